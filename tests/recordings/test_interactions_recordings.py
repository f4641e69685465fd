"""Recorded traffic of the Interactions API judges its dialect: four exchanges, two of them streams.

They show neither a tool nor a chain. What of the API nothing real has shown is in the notes of the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx2
import pytest

from turnproof.dialects.base import PromptUsage, Rendered, Reply, ReplyPart, WireAnswer, World
from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.dialects.gemini_interactions.addresses import InteractionsCall
from turnproof.messages import FinishReason, Text, Thought

from .apis import GEMINI_INTERACTIONS
from .contract import (
    Json,
    assert_counts,
    assert_judged_as_the_service_did,
    assert_split_without_loss,
    incomplete_cuts,
    parsed,
    read_answer,
)
from .judge import Judged
from .material import Exchange
from .serving import Replayer, replaying, serve_each

API = GEMINI_INTERACTIONS


def test_every_recorded_request_is_judged_as_the_service_judged_it(judged: list[Judged]) -> None:
    assert_judged_as_the_service_did(judged)
    assert_counts(judged, accepted=4, refused=0, environmental=0, unheard=0)


def test_no_recorded_request_breaks_a_rule_that_is_only_logged(exchanges: list[Exchange]) -> None:
    for exchange in exchanges:
        assert DIALECT.validate(exchange.request, _call(exchange), _world()) == [], exchange.where


def _world() -> World:
    return World.with_any_key(DIALECT.models)


_call = partial(parsed, DIALECT, InteractionsCall)


read = partial(read_answer, DIALECT)


def _interaction(exchange: Exchange) -> Json:
    """The interaction as the service told it last."""
    if not exchange.streamed:
        found: Json = exchange.source["response"]["json"]
        return found
    event: Json = next(each for each in exchange.chunks if _is_of(each, "interaction.completed"))
    ending: Json = event["interaction"]
    return ending


def _is_of(event: Any, kind: str) -> bool:
    return isinstance(event, dict) and event["event_type"] == kind


def _deltas(exchange: Exchange, kind: str) -> list[Json]:
    found = [each["delta"] for each in exchange.chunks if _is_of(each, "step.delta")]
    return [each for each in found if each["type"] == kind]


def test_every_recorded_answer_parses_to_neutral_form_without_loss(exchanges: list[Exchange]) -> None:
    for exchange in exchanges:
        answer, interaction = read(exchange), _interaction(exchange)
        assert answer.complete, exchange.where
        assert answer.raw_finish == (interaction["status"] if interaction["status"] != "in_progress" else None), (
            exchange.where
        )
        _assert_usage(answer, interaction.get("usage"), exchange.where)
        texts = "".join(part.text for part in answer.parts if isinstance(part, Text))
        thoughts = [part for part in answer.parts if isinstance(part, Thought)]
        if exchange.streamed:
            assert texts == "".join(each["text"] for each in _deltas(exchange, "text"))
            summary = "".join(each["content"]["text"] for each in _deltas(exchange, "thought_summary"))
            assert [part.text for part in thoughts] == [summary]
            signed = [each["signature"] for each in _deltas(exchange, "thought_signature") if each["signature"]]
        else:
            steps = interaction.get("steps", [])
            assert texts == "".join(
                content["text"] for step in steps for content in step.get("content", ()) if content["type"] == "text"
            )
            signed = [step["signature"] for step in steps if step["type"] == "thought"]
        assert [next(iter(part.provider_data.data.values())) for part in thoughts if part.provider_data] == signed


def _assert_usage(answer: WireAnswer, usage: Mapping[str, Any] | None, where: str) -> None:
    if usage is None:
        assert answer.usage is None, where
        return
    assert answer.usage is not None, where
    assert answer.usage.prompt_tokens == usage["total_input_tokens"], where
    assert answer.usage.total_tokens == usage["total_tokens"], where
    assert answer.usage.thinking_tokens == usage["total_thought_tokens"], where


def test_every_recorded_stream_is_split_without_losing_a_byte(exchanges: list[Exchange]) -> None:
    assert_split_without_loss(DIALECT, exchanges)


def test_every_cut_of_a_recorded_stream_is_read_as_incomplete(exchanges: list[Exchange]) -> None:
    assert incomplete_cuts(DIALECT, exchanges) >= 20


# -- what we say of it


def _reply(exchange: Exchange, answer: WireAnswer) -> Reply:
    """The recorded answer as a script would have it: a stream in the pieces in which it came."""
    pieces = {
        Text: tuple(each["text"] for each in _deltas(exchange, "text")) if exchange.streamed else (),
        Thought: tuple(each["content"]["text"] for each in _deltas(exchange, "thought_summary"))
        if exchange.streamed
        else (),
    }
    usage = answer.usage
    assert usage is not None
    figures = {"fresh": usage.prompt_tokens, "cache_read": 0, "cache_write": 0}
    figures |= {"output": usage.output_tokens, "thinking": usage.thinking_tokens}
    parts = tuple(ReplyPart(part, pieces.get(type(part), ())) for part in answer.parts)
    return Reply(parts, answer.finish or FinishReason.STOP, usage=figures)


def _rendered_again(exchange: Exchange) -> Rendered:
    return DIALECT.render(_call(exchange), _reply(exchange, read(exchange)), PromptUsage(0), _world(), "seed")


def _without_chance(answer: Any) -> Any:
    """An answer without what differs each time: ids and times. Our estimate of what an image weighs is another than the
    service's, which counts 258 tokens."""
    match answer:
        case dict():
            fields = {name: _without_chance(value) for name, value in answer.items()}
            for name in ("id", "interaction_id", "created", "updated"):
                if name in fields:
                    fields[name] = ""
            fields.pop("input_tokens_by_modality", None)
            return fields
        case list():
            return [_without_chance(each) for each in answer]
    return answer


def _comparable_events(events: list[Any]) -> list[Any]:
    """The events of a stream without figures on the way, which one of the recorded streams has and the other has not,
    and without the empty signatures that come between the pieces of a summary."""
    bare_events = [{name: value for name, value in each.items() if name != "metadata"} for each in events]
    empty = {"signature": "", "type": "thought_signature"}
    return [_without_chance(each) for each in bare_events if each.get("delta") != empty]


def test_recorded_answers_are_said_again_without_difference(exchanges: list[Exchange]) -> None:
    count = 0
    for exchange in exchanges:
        if _interaction(exchange)["status"] == "in_progress":
            continue
        rendered = _rendered_again(exchange)
        if exchange.streamed:
            bodies = [each.data.partition(b"data: ")[2] for each in rendered.events]
            ours = [json.loads(each) for each in bodies[:-1]]
            assert _comparable_events(ours) == _comparable_events(
                [each for each in exchange.chunks if isinstance(each, dict)]
            )
            # Names, order of members and the end are those of the recording, too.
            assert [list(each) for each in _comparable_events(ours)] == [
                list(each) for each in _comparable_events([each for each in exchange.chunks if isinstance(each, dict)])
            ]
            assert rendered.events[-1].data == b"event: done\ndata: [DONE]\n\n"
        else:
            ours_whole, theirs = json.loads(rendered.events[0].data), _interaction(exchange)
            assert _without_chance(ours_whole) == _without_chance(theirs)
            assert list(ours_whole) == list(theirs)
        count += 1
    assert count == 3


def test_what_is_begun_in_the_background_is_said_again_without_difference(exchanges: list[Exchange]) -> None:
    [exchange] = [each for each in exchanges if _interaction(each)["status"] == "in_progress"]
    reply = Reply((ReplyPart(Text("A report.")),), FinishReason.STOP)
    ours = json.loads(DIALECT.render(_call(exchange), reply, PromptUsage(0), _world(), "seed").events[0].data)
    assert _without_chance(ours) == _without_chance(_interaction(exchange))
    assert list(ours) == list(_interaction(exchange))


# -- what is sent again


@contextmanager
def _client() -> Iterator[tuple[Any, Replayer]]:
    genai: Any = pytest.importorskip("google.genai")
    with replaying(DIALECT) as (base_url, replayer), httpx2.Client() as http:
        options = genai.types.HttpOptions(base_url=base_url, httpx_client=http)
        yield genai.Client(vertexai=False, api_key="recorded", http_options=options).interactions, replayer


REQUEST: Json = {"model": "gemini-2.5-flash", "input": "Hello", "automatic_continuation": False}


def _dump(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True)


def test_recorded_answers_come_back_equal_through_the_sdk(exchanges: list[Exchange]) -> None:
    """`output_text` is what the SDK makes of an answer by itself."""
    with _client() as (client, replayer):
        for exchange in serve_each(replayer, [each for each in exchanges if not each.streamed], at_least=2):
            interaction = _dump(client.create(**REQUEST))
            assert {name: value for name, value in interaction.items() if name != "output_text"} == _interaction(
                exchange
            )
        for exchange in serve_each(replayer, [each for each in exchanges if each.streamed], at_least=2):
            events = [_dump(event) for event in client.create(**REQUEST, stream=True)]
            assert events == [each for each in exchange.chunks if isinstance(each, dict)], exchange.where
