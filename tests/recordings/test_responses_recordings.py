"""Recorded traffic of OpenAI's Responses API judges its dialect: what it decides, reads, keeps, and sends again.

The service holds some of these conversations: a request that goes on from a response, or names a conversation, is
judged by what the recording has shown before it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from turnproof.dialects.base import PromptUsage, Rendered, Reply, ReplyPart, WireAnswer, World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.surfaces import ResponsesCall
from turnproof.messages import FinishReason, Opaque, Part, Text, Thought, TokenUsage

from .apis import OPENAI_RESPONSES
from .contract import (
    Json,
    assert_counts,
    assert_judged_as_the_service_did,
    assert_read_whole,
    assert_split_without_loss,
    call_or_block,
    incomplete_cuts,
    parsed,
    read_answer,
)
from .judge import Judged
from .material import Exchange
from .serving import Replayer, replaying_to_openai, serve_each

API = OPENAI_RESPONSES


# -- what is decided


def test_every_recorded_request_is_judged_as_the_service_judged_it(judged: list[Judged]) -> None:
    assert_judged_as_the_service_did(judged)
    assert_counts(judged, accepted=269, refused=5, environmental=2, unheard=1)


def test_every_operation_that_was_recorded_is_known_by_its_address(exchanges: list[Exchange]) -> None:
    found = Counter((call.operation, call.action, call.stored_kind) for call in map(_call, exchanges))
    assert found["generate", "", ""] >= 255
    assert found["count_tokens", "", ""] >= 4
    assert found["stored", "get", "response"] >= 4
    assert found["stored", "compact", ""] >= 4
    assert found["stored", "create", "conversation"] >= 5
    assert found["stored", "delete", "conversation"] >= 5


def _world() -> World:
    return World.with_any_key(DIALECT.models)


_call = partial(parsed, DIALECT, ResponsesCall)


# -- what is read


def last_response(exchange: Exchange) -> Json | None:
    """The response of an answer, as the service told it last; None for an error and for what is no response."""
    if exchange.status != 200:
        return None
    found = [exchange.source["response"]["json"]] if not exchange.streamed else exchange.chunks
    responses = [each.get("response", each) if isinstance(each, dict) else {} for each in found]
    of_the_api = [each for each in responses if each.get("object") == "response"]
    return of_the_api[-1] if of_the_api else None


def said_by(response: Mapping[str, Any]) -> list[Json]:
    """What the items of a response say, in neutral words."""
    return [entry for item in response["output"] for entry in _item_entries(item)]


def _item_entries(item: Json) -> Iterator[Json]:
    match item["type"]:
        case "message":
            yield from ({"text": each["text"] if "text" in each else each["refusal"]} for each in item["content"])
        case "reasoning":
            thought = "\n\n".join(each["text"] for each in item.get("content") or item["summary"])
            yield {"thought": thought, "sealed": bool(item.get("encrypted_content"))}
        case "function_call":
            yield {"id": item["call_id"], "name": item["name"], "args": json.loads(item["arguments"] or "{}")}
        case _:
            yield item


def read_as(part: Part) -> Json:
    match part:
        case Thought(text=text):
            return {"thought": text, "sealed": part.provider_data is not None}
        case Text(text=text):
            return {"text": text}
        case _:
            return call_or_block(part)


read = partial(read_answer, DIALECT)


def test_every_recorded_answer_parses_to_neutral_form_without_loss(exchanges: list[Exchange]) -> None:
    whole = 0
    for exchange in exchanges:
        answer, response = read(exchange), last_response(exchange)
        if response is None:
            assert (exchange.status == 200) is (answer.error_kind is None), exchange.where
            continue
        assert_read_whole(answer, exchange.where)
        # Encrypted content is drawn anew for every event that shows an item: what counts is that there is some.
        assert [read_as(part) for part in answer.parts] == said_by(response), exchange.where
        if response["status"] in ("queued", "in_progress"):
            assert answer.finish in (None, FinishReason.UNKNOWN), exchange.where
            continue
        assert answer.finish is not FinishReason.UNKNOWN, exchange.where
        assert answer.usage == usage_of(response["usage"]), exchange.where
        whole += 1
    assert whole >= 247


def usage_of(usage: Mapping[str, Any]) -> TokenUsage:
    """The token counts of a recorded answer."""
    details = usage["input_tokens_details"]
    return TokenUsage(
        usage["input_tokens"],
        usage["output_tokens"],
        usage["total_tokens"],
        details["cached_tokens"],
        details.get("cache_write_tokens", 0),
        usage["output_tokens_details"]["reasoning_tokens"],
    )


def test_every_recorded_stream_is_split_without_losing_a_byte(exchanges: list[Exchange]) -> None:
    assert_split_without_loss(DIALECT, exchanges)


def test_a_recorded_stream_that_is_cut_before_it_says_how_it_ended_is_incomplete(exchanges: list[Exchange]) -> None:
    assert incomplete_cuts(DIALECT, exchanges, of_each=8) >= 300


# -- what is rendered of it


def _rendered_again(exchange: Exchange, answer: WireAnswer, *, stream: bool) -> Rendered:
    call = _call(exchange)
    body = {name: value for name, value in (call.body or {}).items() if name != "background"}
    fresh_call = replace(call, operation="generate", stream=stream, body=body)
    assert answer.finish is not None
    reply = Reply(tuple(map(ReplyPart, answer.parts)), answer.finish, answer.raw_finish)
    return DIALECT.render(fresh_call, reply, PromptUsage(10), _world(), "seed")


def _answered(exchanges: list[Exchange]) -> Iterator[tuple[Exchange, WireAnswer]]:
    """The answers that are whole responses."""
    for exchange in exchanges:
        response = last_response(exchange)
        if response is not None and response["status"] not in ("queued", "in_progress"):
            yield exchange, read(exchange)


def test_every_recorded_answer_survives_being_rendered_and_read_again(exchanges: list[Exchange]) -> None:
    """Both forms, whichever was recorded: what is read of them says the same as what was read of the recording."""
    survived = 0
    for exchange, answer in _answered(exchanges):
        for stream in (False, True):
            rendered = _rendered_again(exchange, answer, stream=stream)
            body = b"".join(event.data for event in rendered.events)
            again = DIALECT.read_response(rendered.status, rendered.headers, body)
            assert again.complete, exchange.where
            assert list(map(_sealed, again.parts)) == list(map(_sealed, answer.parts)), exchange.where
            assert again.finish == answer.finish, exchange.where
        survived += 1
    assert survived >= 247


def _sealed(part: Part) -> Part:
    """A part to compare by. Today the service seals all reasoning; five of the recordings, most of 2025, have some that
    it did not seal, because the request did not ask for it."""
    return Thought(part.text) if isinstance(part, Thought) else part


def test_rendered_answers_have_every_member_that_the_newest_recordings_have(exchanges: list[Exchange]) -> None:
    """`tool_usage` is about tools of the service."""
    newest = max(
        (each for each in map(last_response, exchanges) if each), key=lambda response: int(response["created_at"])
    )
    exchange, answer = next(_answered(exchanges))
    ours = json.loads(_rendered_again(exchange, answer, stream=False).events[0].data)
    assert set(newest) - set(ours) <= {"tool_usage", "prompt_cache_options"}


# -- what is sent again


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Any, Replayer]]:
    with replaying_to_openai(DIALECT) as served:
        yield served


REQUEST: Json = {"model": "gpt-5-nano", "input": "Hello"}


def test_recorded_batch_answers_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    client, replayer = served
    expected = [each for each in exchanges if not each.streamed and last_response(each) is not None]
    for exchange in serve_each(replayer, expected, at_least=212):
        response = client.responses.create(**REQUEST)
        assert response.to_dict(mode="json", warnings=False) == exchange.source["response"]["json"], exchange.where


def test_recorded_streams_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    client, replayer = served
    expected = [each for each in exchanges if each.streamed]
    for exchange in serve_each(replayer, expected, at_least=39):
        events = [
            event.to_dict(mode="json", warnings=False) for event in client.responses.create(**REQUEST, stream=True)
        ]
        assert events == [each for each in exchange.chunks if each != "[DONE]"], exchange.where


def test_recorded_answers_rendered_by_us_are_what_the_sdk_reads(exchanges: list[Exchange]) -> None:
    """The same words in our own bytes: a form that the official client does not read is no form of the API.

    One answer of each shape; items of the service's own tools are said as they were recorded, and left out here: the
    client's types lack some of what the service sends in them.
    """
    pytest.importorskip("openai")
    from openai.types.responses import (  # type: ignore[import-not-found, unused-ignore]
        Response,
        ResponseStreamEvent,
    )
    from pydantic import TypeAdapter  # type: ignore[import-not-found, unused-ignore]

    event_type: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    shapes: set[tuple[type[Part], ...]] = set()
    for exchange, answer in _answered(exchanges):
        own = replace(answer, parts=tuple(part for part in answer.parts if not isinstance(part, Opaque)))
        shape = tuple(map(type, own.parts))
        if shape in shapes:
            continue
        shapes.add(shape)
        Response.model_validate_json(_rendered_again(exchange, own, stream=False).events[0].data)
        for event in _rendered_again(exchange, own, stream=True).events:
            event_type.validate_json(event.data.split(b"data: ", 1)[1])
    assert len(shapes) >= 12
