"""What mutants are made of: wrappers and proxies that change nothing by themselves, and keep a legacy history true."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from turnproof.cancel import CancelToken
from turnproof.dialects.base import Call, HttpRequest, Rendered, WireEvent
from turnproof.errors import InvalidRequestError, RateLimitError
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    ProviderResponse,
    Text,
    ToolResult,
    ToolSchema,
    same_history,
)
from turnproof.provider import Binding, Capabilities, Endpoint, Outcome
from turnproof.run.bindings import subject_of
from turnproof.run.driver.mutation import mutated
from turnproof_suites.mutants._broken import Broken, CallInputs, Proceed, record_callbacks
from turnproof_suites.mutants._rewriting import Rewriting
from turnproof_suites.mutants._wire import Json, Wire

TOOLS = [ToolSchema("read_sensor")]


@dataclass
class Stateless:
    """Remembers what it was called with, and answers."""

    seen: dict[str, Any] = field(default_factory=dict)
    shut: bool = False

    def complete(self, messages: Any, system_instruction: Any = None, tools: Any = None, **options: Any) -> Any:
        self.seen = {"messages": messages, "system": system_instruction, "tools": tools, **options}
        if options["on_chunk"]:
            options["on_chunk"]("Hi")
        return ProviderResponse((Text("Hi"),), finish_reason=FinishReason.STOP)

    def shutdown(self) -> None:
        self.shut = True


@dataclass
class Legacy:
    """Owns its history, as the old style has it."""

    history: list[Message] = field(default_factory=list)
    created: list[tuple[Any, Any]] = field(default_factory=list)
    seen: list[Any] = field(default_factory=list)

    def create_session(self, system: Any = None, tools: Any = None, history: Sequence[Message] | None = None) -> None:
        self.created.append((system, tools))
        self.history = list(history or ())

    def get_history(self) -> list[Message]:
        return list(self.history)

    def send_message(self, message: str, response_schema: Any = None) -> ProviderResponse:
        return self._answer(Message.user(message), response_schema)

    def send_message_with_parts(self, parts: Any, response_schema: Any = None) -> ProviderResponse:
        return self._answer(Message.user(*parts), response_schema)

    def send_tool_results_streaming(self, results: Any, on_chunk: Any, *, cancel_token: Any = None) -> ProviderResponse:
        on_chunk("Hi")
        return self._answer(Message.tool(*results), cancel_token)

    def _answer(self, message: Message, extra: Any) -> ProviderResponse:
        self.seen.append(extra)
        self.history += [message, Message.model("Hi")]
        return ProviderResponse((Text("Hi"),), finish_reason=FinishReason.STOP)


def test_an_unbroken_stateless_wrapper_passes_the_very_same_objects() -> None:
    inner = Stateless()
    messages, token = [Message.user("Hello")], CancelToken()
    pieces: list[str] = []
    response = Broken(inner, "stateless").complete(
        messages, "Be brief.", TOOLS, cancel_token=token, on_chunk=pieces.append, response_schema={"type": "object"}
    )
    assert inner.seen["messages"] is messages
    assert inner.seen["tools"] is TOOLS
    assert inner.seen["cancel_token"] is token
    assert (inner.seen["system"], inner.seen["response_schema"]) == ("Be brief.", {"type": "object"})
    assert (inner.seen["on_thinking"], pieces, response.parts) == (None, ["Hi"], (Text("Hi"),))


def test_what_a_wrapper_does_not_know_stays_reachable() -> None:
    inner = Stateless()
    Broken(inner, "stateless").shutdown()
    assert inner.shut


def test_an_unbroken_legacy_wrapper_passes_everything_on() -> None:
    inner = Legacy()
    wrapper = Broken(inner, "legacy")
    wrapper.create_session("Be brief.", TOOLS, None)
    wrapper.send_message("Hello", {"type": "object"})
    wrapper.send_message_with_parts([Text("Hello"), Text("again")], response_schema=None)
    token = CancelToken()
    pieces: list[str] = []
    wrapper.send_tool_results_streaming(
        [ToolResult(call_id="1", name="read_sensor")], pieces.append, cancel_token=token
    )
    assert inner.created == [("Be brief.", TOOLS)]
    assert inner.seen == [{"type": "object"}, None, token]
    assert [message.role for message in inner.history] == ["user", "model", "user", "model", "tool", "model"]
    assert pieces == ["Hi"]


def test_legacy_methods_keep_their_signatures() -> None:
    wrapper = Broken(Legacy(), "legacy")
    assert "cancel_token" not in inspect.signature(wrapper.send_message).parameters
    assert "cancel_token" in inspect.signature(wrapper.send_tool_results_streaming).parameters
    assert not hasattr(wrapper, "send_message_with_parts_streaming")


class Doubting(Broken):
    """Asks everything twice in one message, and answers with a call."""

    def change_message(self, message: Message) -> Message:
        return msgspec.structs.replace(message, parts=message.parts * 2)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return msgspec.structs.replace(response, parts=(FunctionCall(id="1", name="read_sensor"),))


def test_a_legacy_history_holds_what_the_mutant_returned() -> None:
    inner = Legacy()
    wrapper = Doubting(inner, "legacy")
    wrapper.create_session("Be brief.", TOOLS, [Message.user("Before"), Message.model("Yes")])
    wrapper.send_message("Hello")
    expected = [
        Message.user("Before", "Before"),
        Message.model("Yes", "Yes"),
        Message.user("Hello", "Hello"),
        Message.model(FunctionCall(id="1", name="read_sensor")),
    ]
    assert same_history(inner.history, expected, ids=False)
    assert inner.created[-1] == ("Be brief.", TOOLS)


class Refusing(Broken):
    """Fails after the adapter had succeeded."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        raise InvalidRequestError("no")


def test_a_legacy_history_forgets_a_call_that_the_mutant_made_fail() -> None:
    inner = Legacy()
    wrapper = Refusing(inner, "legacy")
    wrapper.create_session(None, None, [Message.user("Before"), Message.model("Yes")])
    with pytest.raises(InvalidRequestError):
        wrapper.send_message("Hello")
    assert [message.text for message in inner.history] == ["Before", "Yes"]


class Listening(Broken):
    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        inputs, record = record_callbacks(inputs)
        response = proceed(inputs)
        return msgspec.structs.replace(response, raw_finish="".join(record.text))


def test_listening_to_callbacks_wakes_none_that_slept() -> None:
    inner = Stateless()
    pieces: list[str] = []
    response = Listening(inner, "stateless").complete([], on_chunk=pieces.append)
    assert (response.raw_finish, pieces) == ("Hi", ["Hi"])
    assert inner.seen["on_thinking"] is None
    assert Listening(inner, "stateless").complete([]).raw_finish == ""


# -- the wire ---------------------------------------------------------------------------------------------------

BODY = b'{"model": "claude-sonnet-4-5",  "max_tokens": 1e2, "messages": [{"role": "user", "content": "Hi"}]}'


def request(path: str = "/v1/messages", body: bytes = BODY) -> HttpRequest:
    return HttpRequest("POST", path, {}, {}, body)


def rendered(*events: bytes, kind: Any = "text") -> Rendered:
    return Rendered(200, {"retry-after": "3"}, tuple(WireEvent(event, kind) for event in events))


DELTA = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"x"}  }\n\n'


def test_an_idle_proxy_keeps_every_byte() -> None:
    proxy = Rewriting()
    answer = rendered(DELTA, b"event: nonsense\n\n", b"data: {broken\n\n")
    assert proxy.request(request()).body is BODY
    assert proxy.response(Call("generate"), answer) is answer


class Naming(Rewriting):
    """Puts a name into everything that it can read."""

    def change_request(self, wire: Wire, body: Json) -> None:
        wire.messages(body).append(wire.user_message("And you?"))

    def change_document(self, wire: Wire, document: Json) -> None:
        document["name"] = "mutant"


def test_a_proxy_rewrites_what_it_can_read_and_nothing_else() -> None:
    proxy = Naming()
    sent = msgspec.json.decode(proxy.request(request()).body)
    assert [message["role"] for message in sent["messages"]] == ["user", "user"]
    shown = proxy.response(Call("generate"), rendered(DELTA, b"data: [1]\n\n"))
    first, second = (event.data for event in shown.events)
    assert first.startswith(b"event: content_block_delta\ndata: {")
    assert b'"name":"mutant"' in first
    assert second == b"data: [1]\n\n"
    body = proxy.response(Call("generate"), rendered(b'{"type": "message"}', kind="body"))
    assert msgspec.json.decode(body.events[0].data) == {"type": "message", "name": "mutant"}


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/api/chat"])
def test_requests_of_other_operations_and_dialects_pass_through(path: str) -> None:
    proxy = Naming()
    assert proxy.request(request(path)).body is BODY
    answer = rendered(DELTA)
    assert proxy.response(Call("generate"), answer) is answer


# -- other people's calling forms --------------------------------------------------------------------------------


class Foreign:
    """A coroutine function with the short signature, which returns its failures."""

    async def complete(
        self,
        messages: Any,
        system: Any,
        tools: Any,
        schema: Any,
        token: Any,
        on_chunk: Any,
        on_usage: Any,
        on_thinking: Any,
    ) -> Outcome:
        if not messages:
            return Outcome(error=RateLimitError("slow down", status=429, retry_after=3.0))
        return Outcome(ProviderResponse((Text("Hi"),), finish_reason=FinishReason.MAX_TOKENS))


FOREIGN = Binding(
    "foreign",
    "anthropic-messages",
    "m",
    Capabilities(),
    open_stateless=lambda endpoint: Foreign(),
    signature="short",
    errors="returned",
)


def test_a_mutant_wraps_an_adapter_whatever_its_calling_form() -> None:
    endpoint = Endpoint("http://127.0.0.1:1", "key", "m")
    binding = mutated(subject_of(FOREIGN), "finish-always-stop").adapter
    assert (binding.signature, binding.errors, binding.open_legacy) == ("full", "raised", None)
    assert binding.open_stateless is not None
    provider = binding.open_stateless(endpoint)
    try:
        response = provider.complete([Message.user("Hello")], on_chunk=None)
        assert response.finish_reason is FinishReason.STOP
        with pytest.raises(RateLimitError, match="slow down"):
            provider.complete([])
    finally:
        provider.shutdown()


def test_a_subject_is_left_alone_without_a_mutant_and_by_a_proxy() -> None:
    subject = subject_of(FOREIGN)
    assert mutated(subject, None) is subject
    assert mutated(subject, "call-ids-replaced") is subject


def test_a_broken_session_stands_on_the_adapter_as_it_is() -> None:
    subject = mutated(subject_of(FOREIGN), "stop-not-heard")
    assert subject.adapter is FOREIGN
    assert subject.session is not subject_of(FOREIGN).session
    assert subject.name == "foreign"
