"""The adapter against the emulator in this process: `pytest` in this folder. Nothing here opens a socket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from httpx_chat import HttpxChat

from turnproof.dialects.base import ReplyPart
from turnproof.errors import InvalidRequestError, RateLimitError, TransportError
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, ToolResult, ToolSchema
from turnproof.scenarios import Scenario
from turnproof.scenarios.model import Fault, ScriptRound, Turn

TOOL = ToolSchema("moisture", "Moisture of a bed", {"type": "object", "properties": {"bed": {"type": "integer"}}})
CALLS = tuple(ReplyPart(FunctionCall(f"call_{bed}", "moisture", {"bed": bed})) for bed in (3, 4))
ANSWER = ReplyPart(Text("Bed 3 is dry."), ("Bed 3", " is dry", "."))
QUESTION = Message.user("How moist is bed 3?")


def scenario(*faults: Fault, calls: tuple[ReplyPart, ...] = ()) -> Scenario:
    """One turn: the tool calls, if any, then the answer."""
    rounds = (ScriptRound((ANSWER,), FinishReason.STOP),)
    if calls:
        rounds = (ScriptRound(calls, FinishReason.TOOL_USE), *rounds)
    turn = Turn(user=QUESTION.parts, rounds=rounds, faults=faults)
    return Scenario(name="greenhouse", title="A greenhouse", tools=(TOOL,), turns=(turn,))


def complete(endpoint: Any, *messages: Message, **options: Any) -> ProviderResponse:
    adapter = HttpxChat(endpoint.base_url, endpoint.api_key, endpoint.model)
    return asyncio.run(adapter.complete(messages or (QUESTION,), "You are a gardener.", [TOOL], **options))


def test_a_streamed_answer_arrives_piece_by_piece(turnproof_transport: Any) -> None:
    endpoint, pieces = turnproof_transport(scenario(), "openai-chat"), []
    response = complete(endpoint, on_chunk=pieces.append)
    assert pieces == ["Bed 3", " is dry", "."]
    assert (response.text, response.finish_reason) == ("Bed 3 is dry.", FinishReason.STOP)
    assert response.usage.total_tokens > 0


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "batch"])
def test_parallel_calls_are_answered_in_their_order(turnproof_transport: Any, stream: bool) -> None:
    endpoint, announced = turnproof_transport(scenario(calls=CALLS), "openai-chat"), []
    options = {"on_chunk": lambda text: None} if stream else {}
    first = complete(endpoint, on_function_call=announced.append, **options)
    assert [dict(call.args) for call in announced] == [{"bed": 3}, {"bed": 4}]
    results = Message.tool(*(ToolResult(call.id, call.name, "12 %") for call in first.calls))
    second = complete(endpoint, QUESTION, Message("model", first.parts), results, **options)
    assert second.text == "Bed 3 is dry."
    assert [exchange.findings for exchange in endpoint.exchanges] == [[], []]


@pytest.mark.parametrize("spelling", ["crlf", "cr"])
def test_an_answer_in_another_spelling_is_the_same(turnproof_transport: Any, spelling: str) -> None:
    endpoint = turnproof_transport(scenario(Fault("respelled", spelling=spelling)), "openai-chat")
    assert complete(endpoint, on_chunk=lambda text: None).text == "Bed 3 is dry."


def test_a_rate_limit_says_how_long_to_wait(turnproof_transport: Any) -> None:
    endpoint = turnproof_transport(scenario(Fault("status", status=429, retry_after=2)), "openai-chat")
    with pytest.raises(RateLimitError) as raised:
        complete(endpoint)
    assert (raised.value.status, raised.value.retry_after) == (429, 2.0)


@pytest.mark.parametrize("kind", ["reset", "stall", "truncate", "garbage", "no-end"])
def test_a_stream_that_fails_is_no_answer(turnproof_transport: Any, kind: Any) -> None:
    endpoint, pieces = turnproof_transport(scenario(Fault(kind, index=1)), "openai-chat"), []
    with pytest.raises(TransportError):
        complete(endpoint, on_chunk=pieces.append)


def test_a_result_that_answers_no_call_is_refused(turnproof_transport: Any) -> None:
    endpoint = turnproof_transport(scenario(), "openai-chat")
    with pytest.raises(InvalidRequestError):
        complete(endpoint, QUESTION, Message.tool(ToolResult("call_3", "moisture", "12 %")))
