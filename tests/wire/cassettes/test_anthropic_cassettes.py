"""Cassettes in the Anthropic dialect: what counts as the same request, and real traffic kept and found again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from shared_material import recordings_dir
from vcr.serializers import yamlserializer  # type: ignore[import-untyped]

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, World
from turnproof.wire.cassettes import Interaction, Player, Recorder, digest, load, save
from turnproof.wire.cassettes.vcr import Serializer

ANTHROPIC = dialect("anthropic-messages")
WORLD = World.with_any_key(ANTHROPIC.models)
TOOL = {"name": "look", "description": "Look.", "input_schema": {"type": "object", "properties": {"at": {}}}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "door", "n": 1}}
LOOK = {"type": "text", "text": "Let me look."}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a cat"}

BASE: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "system": "Be brief.",
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "What is there?"},
        {"role": "assistant", "content": [LOOK, CALL]},
        {"role": "user", "content": [RESULT]},
    ],
}
MARK = {"cache_control": {"type": "ephemeral"}}


def call_of(body: dict[str, Any], path: str = "/v1/messages") -> Call:
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
    read = ANTHROPIC.parse(HttpRequest("POST", path, {}, headers, json.dumps(body).encode()), WORLD)
    assert isinstance(read, Call), read
    return read


def with_message(number: int, message: dict[str, Any]) -> dict[str, Any]:
    messages = [*BASE["messages"][:number], message, *BASE["messages"][number + 1 :]]
    return BASE | {"messages": messages}


SAME = {
    "settings": BASE | {"max_tokens": 5, "temperature": 0.5, "metadata": {"user_id": "x"}, "stream": True},
    "order of keys": dict(reversed(BASE.items())),
    "system as blocks": BASE | {"system": [{"type": "text", "text": "Be brief."}]},
    "cache mark on system": BASE | {"system": [{"type": "text", "text": "Be brief.", **MARK}]},
    "cache mark on a tool": BASE | {"tools": [TOOL | MARK]},
    "cache mark on a result": with_message(2, {"role": "user", "content": [RESULT | MARK]}),
    "text as a block": with_message(0, {"role": "user", "content": [{"type": "text", "text": "What is there?"}]}),
    "order of arguments": with_message(
        1, {"role": "assistant", "content": [LOOK, CALL | {"input": {"n": 1, "at": "door"}}]}
    ),
}

OTHER = {
    "model": BASE | {"model": "claude-haiku-4-5"},
    "system": BASE | {"system": "Be long."},
    "tool name": BASE | {"tools": [TOOL | {"name": "see"}]},
    "tool schema": BASE | {"tools": [TOOL | {"input_schema": {"type": "object"}}]},
    "a tool more": BASE | {"tools": [TOOL, TOOL | {"name": "see"}]},
    "text": with_message(0, {"role": "user", "content": "What was there?"}),
    "call id": with_message(1, {"role": "assistant", "content": [CALL | {"id": "toolu_2"}]}),
    "result": with_message(2, {"role": "user", "content": [RESULT | {"content": "a dog"}]}),
    "error flag": with_message(2, {"role": "user", "content": [RESULT | {"is_error": True}]}),
    "a message less": BASE | {"messages": BASE["messages"][:1]},
}


@pytest.mark.parametrize("body", SAME.values(), ids=SAME)
def test_these_requests_are_the_same(body: dict[str, Any]) -> None:
    assert digest(ANTHROPIC, call_of(body)) == digest(ANTHROPIC, call_of(BASE))


@pytest.mark.parametrize("body", OTHER.values(), ids=OTHER)
def test_these_requests_are_others(body: dict[str, Any]) -> None:
    assert digest(ANTHROPIC, call_of(body)) != digest(ANTHROPIC, call_of(BASE))


def test_a_token_count_of_the_same_conversation_is_another_request() -> None:
    body = {key: value for key, value in BASE.items() if key != "max_tokens"}
    assert digest(ANTHROPIC, call_of(body, "/v1/messages/count_tokens")) != digest(ANTHROPIC, call_of(BASE))


def real_traffic() -> Iterator[tuple[str, list[tuple[HttpRequest, int, dict[str, str], bytes]]]]:
    """Name and exchanges of each recording of the real API, bodies as bytes."""
    for file in sorted(recordings_dir().glob("anthropic/*.json")):
        recording = json.loads(file.read_bytes())
        exchanges = [
            (_request(item["request"]), response["status"], response["headers"], _body(response))
            for item in recording["interactions"]
            if (response := item["response"])
        ]
        yield file.stem, exchanges


def _request(recorded: dict[str, Any]) -> HttpRequest:
    parts = urlsplit(recorded["url"])
    headers = {"content-type": "application/json", **recorded["headers"]}
    return HttpRequest(recorded["method"], parts.path, dict(parse_qsl(parts.query)), headers, _body(recorded))


def _body(recorded: dict[str, Any]) -> bytes:
    if isinstance(recorded.get("raw"), str):
        return str(recorded["raw"]).encode()
    if "json" in recorded:
        return json.dumps(recorded["json"], ensure_ascii=False).encode()
    return str(recorded.get("text", "")).encode()


def test_real_traffic_is_kept_byte_for_byte_and_every_request_finds_its_own_answer(tmp_path: Path) -> None:
    found, refused = 0, []
    for name, exchanges in real_traffic():
        recording = Recorder(
            adapter="real", scenario=name, dialect=ANTHROPIC, model="any", recorded="live", day=date(2026, 11, 21)
        )
        calls: dict[int, Call] = {}
        for number, (request, status, headers, body) in enumerate(exchanges):
            call = ANTHROPIC.parse(request, WORLD)
            if not isinstance(call, Call):
                refused.append((name, call.message))
                continue
            typed = {"content-type": "application/json", **headers}
            chunks = [event.data for event in ANTHROPIC.split_stream(typed, body)]
            recording.add(request, call, status=status, headers=typed, chunks=chunks, turn=number, round_=0)
            calls[number] = call
        assert recording.left_out == []
        path = tmp_path / f"{name}.yaml"
        save(recording.cassette(), path)
        cassette = load(path)
        assert cassette == recording.cassette()
        text = path.read_text("utf-8")
        assert Serializer().deserialize(text)["interactions"] == yamlserializer.deserialize(text)["interactions"]
        player = Player(cassette, ANTHROPIC)
        for number, call in calls.items():
            answer = player.find(call, number, 0)
            assert isinstance(answer, Interaction), answer
            assert answer.response.body == b"".join(answer.chunks) == exchanges[number][3]
            found += 1
        assert player.unplayed() == []
    assert found > 150
    assert refused == []
