"""Recorded traffic of OpenAI, Azure, Z.ai and Ollama judges the chat dialect: what it decides, reads, and sends again.

Our own tests can only say that the dialect does what we believe; these say that what we believe is so. Of GitHub Models
and Copilot nothing was recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from shared_material import recordings_dir

from turnproof.dialects.base import Call, PromptUsage, Reply, ReplyPart, WireAnswer, World
from turnproof.dialects.openai_chat import DIALECT, SURFACES
from turnproof.dialects.openai_chat.content import is_refusal
from turnproof.dialects.openai_chat.surface_table import SURFACE_TABLE
from turnproof.dialects.openai_chat.surfaces import ChatCall, Surface
from turnproof.messages import FinishReason, FunctionCall, Part, Text, Thought, TokenUsage

from .apis import OLLAMA_CHAT, OPENAI_CHAT, ZAI_CHAT, Api
from .contract import (
    Json,
    assert_counts,
    assert_judged_as_the_service_did,
    assert_read_whole,
    assert_split_without_loss,
    call_or_block,
    incomplete_cuts,
    read_answer,
)
from .judge import judge
from .material import Exchange, Recording
from .serving import Replayer, replaying_to_openai, serve_each

APIS = (OPENAI_CHAT, ZAI_CHAT, OLLAMA_CHAT)


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, list[Recording]]:
    return {api.name: list(api.recordings(recordings_dir())) for api in APIS}


@pytest.fixture(scope="module")
def exchanges(recorded: Mapping[str, list[Recording]]) -> list[Exchange]:
    return [each for api in APIS for recording in recorded[api.name] for each in recording.exchanges]


# -- what is decided


@dataclass(frozen=True)
class Expected:
    """How many exchanges of an API there are at least, by class."""

    api: Api
    accepted: int
    refused: int
    environmental: int
    unheard: int


EXPECTED = (
    Expected(OPENAI_CHAT, accepted=137, refused=3, environmental=8, unheard=2),
    Expected(ZAI_CHAT, accepted=6, refused=0, environmental=0, unheard=0),
    Expected(OLLAMA_CHAT, accepted=38, refused=0, environmental=1, unheard=1),
)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.api.name)
def test_every_recorded_request_is_judged_as_the_service_judged_it(
    expected: Expected, recorded: Mapping[str, list[Recording]]
) -> None:
    judged = judge(recorded[expected.api.name], expected.api)
    assert_judged_as_the_service_did(judged)
    assert_counts(
        judged,
        accepted=expected.accepted,
        refused=expected.refused,
        environmental=expected.environmental,
        unheard=expected.unheard,
    )


def test_every_surface_that_was_recorded_is_known_by_its_address(exchanges: list[Exchange]) -> None:
    found = Counter(_call(each).surface for each in exchanges if _parsed(each) is not None)
    assert found[Surface.OPENAI] >= 135
    assert found[Surface.AZURE] >= 14
    assert found[Surface.ZAI] >= 6
    assert found[Surface.OLLAMA] >= 40


def _parsed(exchange: Exchange) -> ChatCall | None:
    dialect = SURFACES["ollama" if exchange.source["api"] == "ollama" else "openai"]
    world = World.with_any_key(dialect.models)
    call = dialect.parse(exchange.request, world)
    return call if isinstance(call, ChatCall) else None


def _call(exchange: Exchange) -> ChatCall:
    call = _parsed(exchange)
    assert call is not None, exchange.where
    return call


# -- what is read


def accumulated(exchange: Exchange) -> Json | None:
    """The first choice of an answer, added up here without any of our code. None for an error."""
    if exchange.status != 200:
        return None
    if not exchange.streamed:
        answer = exchange.source["response"]["json"]
        choice = answer["choices"][0]
        finish = choice.get("finish_reason") or choice["finish_details"]["type"]
        return {"message": choice["message"], "finish": finish, "usage": answer.get("usage")}
    message: Json = {}
    calls: dict[int, Json] = {}
    found: Json = {"message": message, "finish": None, "usage": None}
    for chunk in _chunks(exchange):
        found["usage"] = chunk.get("usage") or found["usage"]
        for choice in chunk["choices"]:
            if choice["index"] == 0:
                _add(message, calls, choice["delta"])
                found["finish"] = choice.get("finish_reason") or found["finish"]
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return found


def _chunks(exchange: Exchange) -> list[Json]:
    return [chunk for chunk in exchange.chunks if chunk != "[DONE]"]


def _add(message: Json, calls: dict[int, Json], delta: Mapping[str, Any]) -> None:
    for name in ("content", "refusal", "reasoning", "reasoning_content"):
        if delta.get(name):
            message[name] = message.get(name, "") + delta[name]
    for piece in delta.get("tool_calls", ()):
        if "id" in piece:
            calls[piece["index"]] = {"id": piece["id"], "function": dict(piece["function"])}
        else:
            calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]


def said_by(message: Mapping[str, Any]) -> list[Json]:
    """What a wire message says, in neutral words."""
    calls = [{"id": each["id"], **each["function"]} for each in message.get("tool_calls") or ()]
    calls += [{"id": "", **message["function_call"]}] if message.get("function_call") else []
    row = [
        {"thought": message.get("reasoning_content") or message.get("reasoning")},
        {"text": message.get("content")},
        {"refusal": message.get("refusal")},
        {"annotations": message.get("annotations")},
        *({"id": call["id"], "name": call["name"], "args": json.loads(call["arguments"])} for call in calls),
    ]
    return [each for each in row if "name" in each or any(each.values())]


def read_as(part: Part) -> Json:
    match part:
        case Thought(text=text):
            return {"thought": text}
        case Text(text=text):
            return {"refusal" if is_refusal(part) else "text": text}
        case _:
            return call_or_block(part)


read = partial(read_answer, DIALECT)


def test_every_recorded_answer_parses_to_neutral_form_without_loss(exchanges: list[Exchange]) -> None:
    whole = 0
    for exchange in exchanges:
        answer, expected = read(exchange), accumulated(exchange)
        if expected is None:
            assert answer.error_kind, exchange.where
            assert answer.error_message, exchange.where
            continue
        assert_read_whole(answer, exchange.where)
        assert [read_as(part) for part in answer.parts] == said_by(expected["message"]), exchange.where
        assert answer.raw_finish == expected["finish"], exchange.where
        assert answer.finish is not FinishReason.UNKNOWN, exchange.where
        usage = expected["usage"]
        assert answer.usage == (usage and usage_of(usage)), exchange.where
        whole += 1
    assert whole >= 183


def usage_of(usage: Mapping[str, Any]) -> TokenUsage:
    """The token counts of a recorded answer."""
    details = usage.get("prompt_tokens_details") or {}
    return TokenUsage(
        usage["prompt_tokens"],
        usage["completion_tokens"],
        usage["total_tokens"],
        details.get("cached_tokens", 0),
        details.get("cache_write_tokens", 0),
        (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0),
    )


def test_a_recorded_refusal_is_read_as_one(exchanges: list[Exchange]) -> None:
    refused = [each for each in exchanges if (accumulated(each) or {"message": {}})["message"].get("refusal")]
    assert len(refused) >= 6
    assert {read(each).finish for each in refused} == {FinishReason.REFUSAL}


def test_every_recorded_stream_is_split_without_losing_a_byte(exchanges: list[Exchange]) -> None:
    assert_split_without_loss(DIALECT, exchanges)


def test_a_recorded_stream_that_is_cut_before_it_says_how_it_ended_is_incomplete(exchanges: list[Exchange]) -> None:
    assert incomplete_cuts(DIALECT, exchanges, of_each=8) >= 200


# -- what is rendered of it


def test_every_recorded_answer_survives_being_rendered_and_read_again(exchanges: list[Exchange]) -> None:
    """Both forms, whichever was recorded: what is read of them says the same as what was read of the recording."""
    survived: Counter[Surface] = Counter()
    for exchange in exchanges:
        if exchange.status != 200:
            continue
        call, answer = _call(exchange), read(exchange)
        if SURFACE_TABLE[call.surface].thoughts is None:
            assert not any(isinstance(part, Thought) for part in answer.parts), exchange.where
        for stream in (False, True):
            again = _rendered_again(call, answer, stream=stream)
            assert again.complete, exchange.where
            # Calls of the old kind have no id; ours are always of the new one.
            old = any(isinstance(part, FunctionCall) and not part.id for part in answer.parts)
            known = [read_as(part) | ({"id": ""} if old else {}) for part in again.parts]
            assert known == [read_as(part) | ({"id": ""} if old else {}) for part in answer.parts], exchange.where
            assert again.finish == answer.finish, exchange.where
        survived[call.surface] += 1
    assert survived[Surface.OPENAI] >= 125
    assert survived[Surface.AZURE] >= 14
    assert survived[Surface.ZAI] >= 6
    assert survived[Surface.OLLAMA] >= 38


def _rendered_again(call: ChatCall, answer: WireAnswer, *, stream: bool) -> WireAnswer:
    dialect = SURFACES[call.surface.value]
    world = World.with_any_key(dialect.models)
    fresh_call = ChatCall(call.operation, call.model, stream, tools=call.tools, surface=call.surface)
    reply = Reply(tuple(map(ReplyPart, answer.parts)), answer.finish or FinishReason.STOP, answer.raw_finish)
    rendered = dialect.render(fresh_call, reply, PromptUsage(10), world, "seed")
    body = b"".join(event.data for event in rendered.events)
    return dialect.read_response(rendered.status, rendered.headers, body)


# -- what is sent again


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Any, Replayer]]:
    with replaying_to_openai(DIALECT) as served:
        yield served


REQUEST: Json = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}


def test_recorded_batch_answers_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    client, replayer = served
    expected = [each for each in exchanges if not each.streamed and each.status == 200]
    for exchange in serve_each(replayer, expected, at_least=147):
        completion = client.chat.completions.create(**REQUEST)
        assert completion.to_dict(mode="json") == exchange.source["response"]["json"], exchange.where


def test_recorded_streams_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    client, replayer = served
    expected = [each for each in exchanges if each.streamed]
    for exchange in serve_each(replayer, expected, at_least=36):
        chunks = [chunk.to_dict(mode="json") for chunk in client.chat.completions.create(**REQUEST, stream=True)]
        assert chunks == _chunks(exchange), exchange.where


def test_recorded_errors_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    import openai  # type: ignore[import-not-found, unused-ignore]

    client, replayer = served
    expected = [each for each in exchanges if each.status != 200]
    for exchange in serve_each(replayer, expected, at_least=13):
        with pytest.raises(openai.APIStatusError) as raised:
            client.chat.completions.create(**REQUEST)
        error = exchange.source["response"]["json"]["error"]
        assert raised.value.status_code == exchange.status, exchange.where
        assert raised.value.body == error, exchange.where
        assert (raised.value.code or raised.value.type) == read(exchange).error_kind, exchange.where


def test_recorded_answers_rendered_by_us_are_what_the_sdk_reads(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    """The same words in our own bytes: a form that the official client does not read is no form of the API."""
    pytest.importorskip("openai")
    from openai.types.chat import (  # type: ignore[import-not-found, unused-ignore]
        ChatCompletion,
        ChatCompletionChunk,
    )

    compared = 0
    for exchange in exchanges:
        if exchange.status != 200:
            continue
        call, answer = _call(exchange), read(exchange)
        dialect = SURFACES[call.surface.value]
        world = World.with_any_key(dialect.models)
        reply = Reply(tuple(map(ReplyPart, answer.parts)), answer.finish or FinishReason.STOP, answer.raw_finish)
        whole = dialect.render(_asking(call, stream=False), reply, PromptUsage(10), world, "seed")
        ChatCompletion.model_validate_json(whole.events[0].data)
        for event in dialect.render(_asking(call, stream=True), reply, PromptUsage(10), world, "seed").events[:-1]:
            if b'"prompt_filter_results"' not in event.data and call.surface is not Surface.ZAI:
                # Recorded of Azure and Z.ai: chunks without a model or an ending, which the client's types demand.
                ChatCompletionChunk.model_validate_json(event.data.removeprefix(b"data: "))
        compared += 1
    assert compared >= 183


def _asking(call: Call, *, stream: bool) -> ChatCall:
    surface = call.surface if isinstance(call, ChatCall) else Surface.OPENAI
    return ChatCall(call.operation, call.model, stream, tools=call.tools, surface=surface)
