"""Recorded traffic of Ollama's own API judges the dialect: what it decides, what it reads, what it says again.

Six exchanges, of 2024 and 2025; none has a call, a thought or a picture. Nothing recorded judges `/v1/messages`, as the
marks of its rules say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from turnproof.dialects.base import Call, PromptUsage, Reply, ReplyPart, World
from turnproof.dialects.ollama import DIALECT
from turnproof.messages import Text

from .apis import OLLAMA_NATIVE
from .contract import Json, assert_judged_as_the_service_did, read_answer
from .judge import Judged
from .material import Exchange
from .serving import Replayer, replaying

API = OLLAMA_NATIVE


def lines_of(exchange: Exchange) -> list[Json]:
    """What was recorded of an answer, in lines; one for an answer in one piece."""
    response = exchange.source["response"]
    found: list[Json] = response["ndjson"] if "ndjson" in response else [response["json"]]
    return found


def whole(exchange: Exchange) -> tuple[str, Mapping[str, Any]]:
    """The text that the lines add up to, added up here without any of our code, and the last line."""
    lines = lines_of(exchange)
    texts = [line["message"]["content"] if "message" in line else line["response"] for line in lines]
    return "".join(texts), lines[-1]


answered = partial(read_answer, DIALECT)


def test_every_recorded_request_is_judged_as_the_server_judged_it(judged: list[Judged]) -> None:
    assert_judged_as_the_service_did(judged)


def test_all_of_them_are_measured(judged: list[Judged], exchanges: list[Exchange]) -> None:
    assert len(judged) == len(exchanges) >= 6
    assert {each.kind for each in judged} == {"derivable"}
    assert sorted(each.accepted for each in judged) == [False, *[True] * (len(judged) - 1)]


def test_every_recorded_answer_is_read_without_loss(exchanges: list[Exchange]) -> None:
    for exchange in exchanges:
        answer = answered(exchange)
        assert answer.complete, exchange.where
        if exchange.status != 200:
            assert (answer.error_kind, answer.error_message) == ("", lines_of(exchange)[0]["error"]), exchange.where
            continue
        text, last = whole(exchange)
        assert answer.parts == (Text(text),), exchange.where
        assert answer.raw_finish == last["done_reason"], exchange.where
        assert answer.usage is not None, exchange.where
        figures = (last.get("prompt_eval_count", 0), last["eval_count"])
        assert (answer.usage.prompt_tokens, answer.usage.output_tokens) == figures, exchange.where


def test_every_cut_of_a_recorded_stream_is_read_as_incomplete(exchanges: list[Exchange]) -> None:
    cuts = 0
    for exchange in exchanges:
        events = DIALECT.split_stream(exchange.headers, exchange.body)
        assert b"".join(event.data for event in events) == exchange.body, exchange.where
        if "ndjson" not in exchange.source["response"]:
            continue
        assert [event.kind for event in events] == ["text"] * (len(events) - 1) + ["end"], exchange.where
        assert "".join(event.text for event in events) == whole(exchange)[0], exchange.where
        for cut in range(len(events)):
            body = b"".join(event.data for event in events[:cut])
            assert not DIALECT.read_response(200, exchange.headers, body).complete, (exchange.where, cut)
            cuts += 1
        assert not DIALECT.read_response(200, exchange.headers, exchange.body[:-1]).complete, exchange.where
    assert cuts >= 200


def test_what_was_recorded_is_said_again_with_the_same_fields(exchanges: list[Exchange]) -> None:
    """Parsed, rendered and read again; the fields are those of today's server, which has all that were recorded."""
    count = 0
    for exchange in exchanges:
        world = World(keys=frozenset(), models=DIALECT.models, clock=lambda: 1.7e9, any_key=True)
        call = DIALECT.parse(exchange.request, world)
        assert isinstance(call, Call), exchange.where
        if exchange.status != 200:
            (refusal,) = DIALECT.validate(exchange.request, call, world)
            rendered = DIALECT.render_refusal(refusal, "s")
            assert rendered.status == exchange.status
            assert json.loads(rendered.events[0].data) == lines_of(exchange)[0]
            continue
        answer = answered(exchange)
        assert answer.finish is not None
        assert answer.usage is not None
        usage = {"output": answer.usage.output_tokens}
        reply = Reply(tuple(ReplyPart(part) for part in answer.parts), answer.finish, answer.raw_finish, usage)
        rendered = DIALECT.render(call, reply, PromptUsage(answer.usage.prompt_tokens), world, "s")
        assert rendered.headers["content-type"] == exchange.headers["content-type"], exchange.where
        body = b"".join(event.data for event in rendered.events)
        assert DIALECT.read_response(200, rendered.headers, body) == answer, exchange.where
        theirs, ours = whole(exchange)[1], json.loads(rendered.events[-1].data)
        assert {key: type(value) for key, value in theirs.items()} == {key: type(value) for key, value in ours.items()}
        count += 1
    assert count >= 5


# -- through the client


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Any, Replayer]]:
    ollama = pytest.importorskip("ollama")
    with replaying(DIALECT) as (base_url, replayer):
        yield ollama.Client(base_url), replayer


def test_recorded_answers_come_back_equal_through_the_client(
    exchanges: list[Exchange], served: tuple[Any, Replayer]
) -> None:
    client, replayer = served
    for exchange in exchanges:
        replayer.armed = exchange
        streamed = "ndjson" in exchange.source["response"]
        ask = client.chat if exchange.request.path.endswith("chat") else client.generate
        if exchange.status != 200:
            with pytest.raises(Exception, match="not found") as raised:
                ask("qwen3:8b")
            assert getattr(raised.value, "status_code", None) == exchange.status
            continue
        words = {} if ask == client.chat else {"prompt": "Hello"}
        answers = list(ask("qwen3:8b", stream=True, **words)) if streamed else [ask("qwen3:8b", stream=False, **words)]
        parts = [each.message.content if hasattr(each, "message") else each.response for each in answers]
        assert "".join(parts) == whole(exchange)[0], exchange.where
        assert answers[-1].eval_count == whole(exchange)[1]["eval_count"], exchange.where
