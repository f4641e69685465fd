"""Recorded traffic of the Anthropic API judges the dialect: what it decides, what it reads, what it sends again.

Our own tests can only say that the dialect does what we believe; these say that what we believe is so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import anthropic
import httpx2
import msgspec
import pytest

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import WireAnswer
from turnproof.messages import FunctionCall, Opaque, Text, Thought, thaw

from .apis import ANTHROPIC
from .contract import Json, assert_counts, assert_judged_as_the_service_did, incomplete_cuts, read_answer
from .judge import Judged
from .material import Exchange
from .serving import Replayer, replaying, serve_each

API = ANTHROPIC


# -- what is decided


def test_every_recorded_request_is_judged_as_the_service_judged_it(judged: list[Judged]) -> None:
    assert_judged_as_the_service_did(judged)


def test_the_three_classes_are_all_measured(judged: list[Judged], exchanges: list[Exchange]) -> None:
    assert len(judged) == len(exchanges) >= 162
    assert_counts(judged, accepted=147, refused=6, environmental=8, unheard=1)


# -- what is read


def accumulated(exchange: Exchange) -> Json | None:
    """The message that a stream adds up to, added up here without any of our code. None for an error."""
    message: Json | None = None
    for each in exchange.source["response"]["sse"]:
        data = each["data"]
        match data["type"]:
            case "message_start":
                message = msgspec.json.decode(msgspec.json.encode(data["message"]))
            case "content_block_start":
                assert message is not None
                message["content"].append(dict(data["content_block"]))
            case "content_block_delta":
                assert message is not None
                _add(message["content"][data["index"]], data["delta"])
            case "content_block_stop":
                assert message is not None
                block = message["content"][data["index"]]
                if (pieces := block.pop("pieces", None)) is not None:
                    block["input"] = msgspec.json.decode(pieces or "{}")
            case "message_delta":
                assert message is not None
                message |= {key: value for key, value in data["delta"].items() if value is not None}
                message["usage"] |= {key: value for key, value in data["usage"].items() if value is not None}
    return message


def _add(block: Json, delta: Mapping[str, Any]) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] += delta["signature"]
        case "input_json_delta":
            block["pieces"] = block.get("pieces", "") + delta["partial_json"]
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        case "compaction_delta":
            block |= {key: value for key, value in delta.items() if key != "type"}
        case other:
            raise AssertionError(f"a delta that this test does not know: {other}")


def as_blocks(answer: WireAnswer) -> list[Json]:
    """The parts of an answer as wire blocks again, as far as they have one."""
    return [_as_block(part) for part in answer.parts]


def _as_block(part: object) -> Json:
    match part:
        case Text():
            citations = part.provider_data.data["citations"] if part.provider_data else None
            return {"type": "text", "text": part.text} | ({"citations": thaw(citations)} if citations else {})
        case Thought() if part.provider_data and "redacted" in part.provider_data.data:
            return {"type": "redacted_thinking", "data": part.provider_data.data["redacted"]}
        case Thought():
            signature = part.provider_data.data["signature"] if part.provider_data else ""
            return {"type": "thinking", "thinking": part.text, "signature": signature}
        case FunctionCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": thaw(part.args)}
        case Opaque():
            return dict(thaw(part.data))
        case _:
            raise AssertionError(f"an answer holds no {type(part).__name__}")


def _without_defaults(block: Mapping[str, Any]) -> Json:
    return {
        key: value
        for key, value in block.items()
        if not (key == "caller" and block["type"] == "tool_use" and value == {"type": "direct"})
        and not (key == "citations" and not value)
    }


def test_every_recorded_answer_parses_to_neutral_form_without_loss(exchanges: list[Exchange]) -> None:
    read = 0
    for exchange in exchanges:
        answer = read_answer(DIALECT, exchange)
        message = accumulated(exchange) if exchange.streamed else exchange.source["response"]["json"]
        if message is None or message.get("type") == "error":
            assert answer.error_kind, exchange.where
            continue
        assert answer.complete, exchange.where
        assert answer.broken_calls == 0, exchange.where
        if "content" in message:
            assert as_blocks(answer) == [_without_defaults(block) for block in message["content"]], exchange.where
            assert answer.raw_finish == message["stop_reason"], exchange.where
            assert_usage(answer, message["usage"], exchange.where)
            read += 1
    assert read >= 140


def assert_usage(answer: WireAnswer, usage: Mapping[str, Any], where: str) -> None:
    read = usage.get("cache_read_input_tokens") or 0
    created = usage.get("cache_creation_input_tokens") or 0
    assert answer.usage is not None, where
    assert answer.usage.prompt_tokens == usage["input_tokens"] + read + created, where
    assert answer.usage.output_tokens == usage["output_tokens"], where
    assert (answer.usage.cache_read_tokens, answer.usage.cache_creation_tokens) == (read, created), where


def test_every_cut_of_a_recorded_stream_is_read_as_incomplete(exchanges: list[Exchange]) -> None:
    assert incomplete_cuts(DIALECT, exchanges) >= 1
    for exchange in exchanges:
        events = DIALECT.split_stream(exchange.headers, exchange.body)
        assert b"".join(event.data for event in events) == exchange.body, exchange.where


# -- what is sent again


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[anthropic.Anthropic, Replayer]]:
    with (
        replaying(DIALECT) as (base_url, replayer),
        anthropic.Anthropic(
            base_url=base_url, api_key="recorded", max_retries=0, http_client=httpx2.Client()
        ) as client,
    ):
        yield client, replayer


REQUEST: Json = {"model": "claude-haiku-4-5", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}]}


def test_recorded_batch_answers_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[anthropic.Anthropic, Replayer]
) -> None:
    client, replayer = served
    compared = 0
    for exchange in exchanges:
        recorded = exchange.source["response"].get("json")
        if recorded is None or exchange.status != 200:
            continue
        replayer.armed = exchange
        if "content" in recorded:
            answer: Any = client.beta.messages.create(**REQUEST)
        else:
            answer = client.messages.count_tokens(model=REQUEST["model"], messages=REQUEST["messages"])
        assert answer.to_dict(mode="json") == recorded, exchange.where
        compared += 1
    assert compared >= 121


def test_recorded_errors_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[anthropic.Anthropic, Replayer]
) -> None:
    client, replayer = served
    expected = [each for each in exchanges if each.status != 200]
    for exchange in serve_each(replayer, expected, at_least=14):
        with pytest.raises(anthropic.APIStatusError) as raised:
            client.messages.create(**REQUEST)
        assert raised.value.status_code == exchange.status, exchange.where
        assert raised.value.body == exchange.source["response"]["json"], exchange.where


def _without_nulls(blocks: list[Json]) -> list[Json]:
    """The SDK writes null for a member that it knows and the stream did not mention."""
    return [{key: value for key, value in block.items() if value is not None} for block in blocks]


def test_recorded_streams_come_back_equal_through_the_sdk(
    exchanges: list[Exchange], served: tuple[anthropic.Anthropic, Replayer]
) -> None:
    client, replayer = served
    streams = [each for each in exchanges if each.streamed]
    assert sum(accumulated(each) is not None for each in streams) >= 26
    for exchange in serve_each(replayer, streams, at_least=26):
        message = accumulated(exchange)
        if message is None:
            with pytest.raises(anthropic.APIStatusError) as raised, client.beta.messages.stream(**REQUEST) as stream:
                stream.until_done()
            assert raised.value.body == exchange.source["response"]["sse"][0]["data"], exchange.where
            continue
        expected = [each["data"] for each in exchange.source["response"]["sse"] if each["data"]["type"] != "ping"]
        events = [event.to_dict(mode="json") for event in client.beta.messages.create(**REQUEST, stream=True)]
        assert events == expected, exchange.where
        with client.beta.messages.stream(**REQUEST) as stream:
            final_message: Any = stream.get_final_message().to_dict(mode="json")
        assert _without_nulls(final_message["content"]) == _without_nulls(message["content"]), exchange.where
        assert final_message["stop_reason"] == message["stop_reason"], exchange.where
