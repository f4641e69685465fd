"""The code that calls an adapter by the contract: it is run here, and what the adapter got is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from turnproof import cancel, messages
from turnproof.commands.reproduce.contract_code import BEFORE, ContractCall, ContractCode
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, ToolResult
from turnproof.provider import Binding, Capabilities

CALL = FunctionCall("call_1", "read_sensor", {"bed": "3"})
HISTORY = (
    Message.user("How moist is bed 3?"),
    Message("model", (CALL,)),
    Message.tool(ToolResult("call_1", "read_sensor", "41 %")),
)


class Adapter:
    """Keeps what it is called with, and hands on two pieces of text where somebody listens."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []

    def _answer(self, method: str, content: Any, options: dict[str, Any]) -> ProviderResponse:
        token = options.get("cancel_token")
        self.calls.append((method, content, {**options, "cancelled": token is not None and token.is_cancelled}))
        for piece in ("Bed 3 ", "is dry."):
            options.get("on_chunk", len)(piece)
        return ProviderResponse((Text("Bed 3 is dry."),), finish_reason=FinishReason.STOP)

    def complete(self, history: Sequence[Message], system: Any, tools: Any, **options: Any) -> ProviderResponse:
        return self._answer("complete", [*history], options)

    def create_session(self, system: Any, tools: Any, history: Sequence[Message] | None) -> None:
        self.calls.append(("create_session", history, {}))

    def send_tool_results_streaming(self, results: list[ToolResult], **options: Any) -> ProviderResponse:
        return self._answer("send_tool_results_streaming", results, options)

    def send_message(self, message: str, **options: Any) -> ProviderResponse:
        return self._answer("send_message", message, options)


def answered(call: ContractCall) -> tuple[Adapter, Any]:
    """What an adapter got by the code for a call, and what the code returned."""
    adapter = Adapter()
    binding = Binding(
        name="mine",
        dialect="openai-chat",
        model="m",
        capabilities=Capabilities(),
        open_stateless=lambda endpoint: adapter,
        open_legacy=lambda endpoint: adapter,
    )
    code = ContractCode(binding, "mine:BINDING").code(call)
    lines = [
        "async def ask(url):",
        f"    messages = [{', '.join(code.messages)}]",
        *(f"    {line}" for line in (*code.opening, *code.body)),
    ]
    names: dict[str, Any] = {**vars(messages), "BINDING": binding, "CancelToken": cancel.CancelToken}
    exec("\n".join(["from contextlib import suppress", "from turnproof.provider import Endpoint", *lines]), names)
    return adapter, asyncio.run(names["ask"]("http://127.0.0.1:9"))


PLAIN = ContractCall("m", HISTORY)


def test_earlier_calls_are_made_first_and_share_what_the_last_one_has_too() -> None:
    first = replace(PLAIN, messages=HISTORY[:1], streamed=True)
    adapter, _ = answered(replace(PLAIN, earlier=(first,)))
    assert [len(content) for _, content, _ in adapter.calls] == [1, 3]
    assert "messages[:1]" in "\n".join(ContractCode(_binding(), "a:B").code(replace(PLAIN, earlier=(first,))).body)


def test_an_earlier_call_with_other_messages_has_its_own() -> None:
    other = replace(PLAIN, messages=(Message.user("And bed 4?"),))
    adapter, _ = answered(replace(PLAIN, earlier=(other,)))
    assert [content[0].text for _, content, _ in adapter.calls] == ["And bed 4?", "How moist is bed 3?"]


@pytest.mark.parametrize(
    ("length", "streamed", "method", "content"),
    [
        (3, True, "send_tool_results_streaming", [HISTORY[2].results[0]]),
        (1, False, "send_message", "How moist is bed 3?"),
    ],
)
def test_the_legacy_path_gets_a_session_and_the_last_message(
    length: int, streamed: bool, method: str, content: object
) -> None:
    adapter, _ = answered(replace(PLAIN, path="legacy", messages=HISTORY[:length], streamed=streamed))
    (opened, history, _), (called, argument, _) = adapter.calls
    assert (opened, len(history or ())) == ("create_session", length - 1)
    assert (called, argument) == (method, content)


def test_a_schema_goes_along() -> None:
    adapter, _ = answered(replace(PLAIN, schema={"type": "object"}))
    assert adapter.calls[0][2]["response_schema"] == {"type": "object"}


def test_a_call_is_cancelled_after_so_many_callbacks() -> None:
    adapter, found = answered(replace(PLAIN, streamed=True, cancelled_after=1, wanted="chunks"))
    assert found == {"chunks": ["Bed 3 ", "is dry."]}
    assert adapter.calls[0][2]["cancel_token"].is_cancelled


def test_a_call_that_is_cancelled_before_it_begins_gets_a_token_that_is_set() -> None:
    adapter, _ = answered(replace(PLAIN, cancelled_after=BEFORE))
    assert adapter.calls[0][2]["cancelled"]


def test_what_callbacks_get_is_returned_in_order_with_the_answer() -> None:
    _, found = answered(replace(PLAIN, streamed=True, wanted="told"))
    events, (parts, *_) = found["told"]
    assert events == [["chunk", "Bed 3 "], ["chunk", "is dry."]]
    assert list(parts) == [{"part": "text", "text": "Bed 3 is dry."}]


def _binding() -> Binding:
    return Binding(
        name="mine", dialect="openai-chat", model="m", capabilities=Capabilities(), open_stateless=lambda endpoint: None
    )
