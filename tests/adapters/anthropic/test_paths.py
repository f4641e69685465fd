"""What each path is before it is used, and what it hands on untouched: to the SDK, to a plugin, to the caller."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import OverloadedError, TransportError
from turnproof.messages import FinishReason, Message, Opaque, Text, TokenUsage, ToolSchema
from turnproof_adapters._answers import Listeners
from turnproof_adapters._calling import Prompt, Source
from turnproof_adapters.anthropic.calling import Caller
from turnproof_adapters.anthropic.legacy import AnthropicLegacy
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.anthropic.stateless import AnthropicStateless, Encoder
from turnproof_adapters.anthropic.wire import Answer, Event, Failure

from ..callback_recorder import CallbackRecorder
from .kit import KEY, MODEL, OURS, Capture, answer, as_it_came, call, legacy, result, signed, stateless, text, tool_use

URL = "http://example.invalid"
HI = Message.user("hi")
TOOLS = [ToolSchema("mcp.srv.ls")]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_a_provider_that_is_not_connected_holds_nothing() -> None:
    pure, stateful = AnthropicStateless(), AnthropicLegacy()
    pure.forget_encodings()
    assert pure.messages_encoded == 0
    assert stateful.get_history() == []
    assert stateful.get_token_usage() == TokenUsage()


def test_a_conversation_need_not_be_opened_to_be_begun() -> None:
    capture, provider = Capture(), AnthropicLegacy()
    provider.initialize({"base_url": URL, "api_key": KEY, "transport": capture.transport})
    provider.connect(MODEL)
    assert provider.send_message("hi").text == "hi"
    assert set(capture.body) == {"model", "max_tokens", "messages"}


def test_a_new_conversation_has_used_nothing_yet() -> None:
    provider = legacy(URL, transport=Capture().transport)
    usage = provider.send_message("hi").usage
    assert provider.get_token_usage() == usage != TokenUsage()
    provider.create_session()
    assert provider.get_token_usage() == TokenUsage()


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize("silence", [5, 7, 600])
def test_a_call_gives_up_after_as_much_silence_as_it_was_told_to(streamed: bool, silence: float) -> None:
    """Of 5 seconds the SDK believes that nobody asked for them, and of 600 that it may refuse a long answer."""
    capture = Capture()
    options: dict[str, Any] = {"transport": capture.transport, "timeout": silence, "max_tokens": 60_000}
    recorder: dict[str, Any] = {"on_chunk": print} if streamed else {}
    stateless(URL, **options).complete([HI], **recorder)
    (legacy(URL, **options).send_message_streaming if streamed else legacy(URL, **options).send_message)(
        "hi", **recorder
    )
    waits = [request.extensions["timeout"] for request in capture.requests]
    assert waits == [{"connect": 5, "read": silence, "write": silence, "pool": silence}] * 2


def test_what_the_sdk_does_not_know_is_read_without_a_warning() -> None:
    strange = {"type": "hologram", "beam": [1, 2]}
    transport = Capture(answer(strange, {**text("so"), "citations": 5}, stop="something_new")).transport
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        # Of a socket that another test has left to the garbage collector.
        warnings.filterwarnings("ignore", category=ResourceWarning)
        response = legacy(URL, transport=transport).send_message("hi")
    assert response.parts[0] == Opaque(OURS, "hologram", strange)
    assert response.raw_finish == "something_new"


@pytest.mark.parametrize(
    ("model", "roles"), [(MODEL, ["user"]), ("claude-opus-4-8", ["user", "system"])], ids=["earlier", "newer"]
)
def test_an_instruction_in_mid_conversation_goes_on_the_wire_as_the_model_takes_it(
    model: str, roles: list[str]
) -> None:
    history = [HI, Message.system("be brief")]
    encoded = Encoder(ANTHROPIC, model).arranged(history).finish()
    assert [json.loads(message)["role"] for message in encoded] == roles
    plain = legacy(URL, model)._kwargs(Prompt(history))["messages"]
    assert [json.loads(message) for message in encoded] == plain


def test_both_paths_send_what_stands_around_a_conversation() -> None:
    old, new = Capture(), Capture()
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    provider = legacy(URL, transport=old.transport)
    provider.create_session("rules", TOOLS)
    provider.send_message("hi", schema)
    stateless(URL, transport=new.transport).complete([HI], "rules", TOOLS, response_schema=schema)
    assert old.body == new.body
    assert set(old.body) == {"model", "max_tokens", "messages", "system", "tools", "output_config"}


def test_an_answer_that_is_no_object_is_refused_on_both_paths() -> None:
    for page in (httpx2.Response(200, text="so it is"), httpx2.Response(200, json=["so"])):
        transport = httpx2.MockTransport(lambda _, page=page: page)
        with pytest.raises(TransportError):
            stateless(URL, transport=transport).complete([HI])
        with pytest.raises(TransportError, match=r"the service sent (str|list) where an object belongs"):
            legacy(URL, transport=transport).send_message("hi")


LOOPS = [
    ([HI, Message.model(call()), Message.tool(result())], False),
    ([HI, Message.model(signed("hm"), call()), Message.tool(result())], True),
]


@pytest.mark.parametrize(("history", "thinks"), LOOPS, ids=["without-thinking", "with-thinking"])
def test_both_paths_ask_for_thinking_in_a_loop_that_began_with_it_only(history: list[Message], thinks: bool) -> None:
    budget = {"budget_tokens": 2000}
    body = json.loads(stateless(URL, thinking=budget)._body(Prompt(history), stream=False))
    assert body == legacy(URL, thinking=budget)._kwargs(Prompt(history))
    assert ("thinking" in body) is thinks


def test_a_batch_call_is_heard_as_far_as_there_are_ears_for_it() -> None:
    called = Message.model(call("a", "mcp.srv.ls"))
    name = json.loads(Encoder(ANTHROPIC, MODEL).arranged([called]).finish()[0])["content"][0]["name"]
    assert name != "mcp.srv.ls"
    reply = answer({"type": "thinking", "thinking": "hm", "signature": "s"}, tool_use("b", name, {}), stop="tool_use")
    provider, recorder = stateless(URL, transport=Capture(reply).transport), CallbackRecorder()
    ears: dict[str, Any] = {name: listen for name, listen in recorder.callbacks.items() if name != "on_chunk"}
    response = provider.complete([HI, called], **ears)
    assert recorder.events == [("thinking", "hm"), ("call", call("b", "mcp.srv.ls"))]
    assert recorder.usage == [response.usage]


STREAMED = Listeners(on_chunk=lambda text: None)


def never() -> Any:
    raise AssertionError("the other way of asking was taken")


def test_a_call_in_a_stream_goes_by_the_name_that_it_is_given_back() -> None:
    start = Event("content_block_start", 0, content_block=tool_use("a", "wire_name", {}))
    events = [start, Event("content_block_stop", 0), Event("message_stop")]
    source = Source(iter(events), lambda: None)
    own = {"wire_name": "own name"}
    caller = Caller(ANTHROPIC, KEY)
    response = caller.call(never, lambda: source, lambda name, wire_input: (own[name], wire_input), STREAMED, None)
    assert response.calls == (call("a", "own name"),)


def failing(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


def test_no_failure_shows_the_key() -> None:
    caller = Caller(ANTHROPIC, KEY)
    with pytest.raises(TransportError) as refused:
        caller.simple(failing(ValueError(f"no JSON: {KEY}")))
    event = Event("error", error=Failure("overloaded_error", f"too many calls of {KEY}"))
    with pytest.raises(OverloadedError) as broken:
        caller.call(never, lambda: Source(iter([event]), lambda: None), as_it_came, STREAMED, None)
    for failure in (refused.value, broken.value):
        assert KEY not in f"{failure!r} {failure}"
    assert "no JSON" in refused.value.message
    assert "too many calls" in broken.value.message


def test_of_an_answer_that_came_after_the_cancel_text_is_kept_and_no_call() -> None:
    token = CancelToken()

    def ask() -> Answer:
        token.cancel()
        return Answer(MODEL, [text("so"), tool_use("a", "rm", {})], "tool_use")

    response = Caller(ANTHROPIC, KEY).call(ask, never, as_it_came, Listeners(), token)
    assert (response.parts, response.finish_reason) == ((Text("so"),), FinishReason.CANCELLED)
