"""Cassettes of Ollama's own API: a stream of lines is kept, and comes back line by line."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Rendered, Reply, ReplyPart, World
from turnproof.messages import FinishReason, FunctionCall, Text
from turnproof.wire.cassettes import Player, Recorder, load, save

NATIVE = dialect("ollama@native")
WORLD = World(frozenset(), NATIVE.models, lambda: 1.7e9)
REPLY = Reply((ReplyPart(Text("Let me look. 🌱")), ReplyPart(FunctionCall("", "look"))), FinishReason.TOOL_USE)


def request(**more: Any) -> HttpRequest:
    body = {"model": "qwen3:8b", "messages": [{"role": "user", "content": "What is there?"}], **more}
    headers = {"content-type": "application/json"}
    return HttpRequest("POST", "/api/chat", {}, headers, json.dumps(body).encode())


def call_of(http_request: HttpRequest) -> Call:
    read = NATIVE.parse(http_request, WORLD)
    assert isinstance(read, Call), read
    return read


def test_a_stream_of_lines_is_played_line_by_line(tmp_path: Path) -> None:
    rendered = NATIVE.render(call_of(request()), REPLY, PromptUsage(9), WORLD, "s")
    body = b"".join(event.data for event in rendered.events)
    recording = Recorder(
        scenario="look", dialect=NATIVE, day=date(2026, 11, 22), adapter="mine", model="qwen3:8b", recorded="emulated"
    )
    # The network cuts where it likes, also inside a character.
    chunks = (body[:50], body[50:131], body[131:])
    recording.add(request(), call_of(request()), status=200, headers=rendered.headers, chunks=chunks, turn=0, round_=0)
    save(recording.cassette(), tmp_path / "look.yaml")
    player = Player(load(tmp_path / "look.yaml"), NATIVE)
    played = player.answer(call_of(request(options={"num_ctx": 512})), 0, 0)
    assert isinstance(played, Rendered)
    assert played.events == rendered.events
    assert [event.kind for event in played.events][-2:] == ["args", "end"]
    assert not isinstance(player.answer(call_of(request(model="qwen3")), 0, 0), Rendered)
