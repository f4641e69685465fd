"""Exchanges to put on a cassette: equally long requests of 21 messages, made by the dialect itself."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from ....dialects import dialect
from ....dialects.base import Call, HttpRequest, PromptUsage, Reply, ReplyPart, World
from ....messages import FinishReason, Text
from ....wire.cassettes import Recorder, save

WIRE = dialect("anthropic-messages")
HOST = WIRE.default_host.rpartition("/")[2]
PATH = "/v1/messages"
HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}

_WORLD = World.with_any_key(WIRE.models)
_SENTENCE = "Bed three is moist enough, and the thermometer by the door reads nineteen degrees. "


def request(number: int) -> HttpRequest:
    """About 6.5 kB. It differs from the others in its last message."""
    messages = [
        {"role": "assistant" if turn % 2 else "user", "content": [{"type": "text", "text": _SENTENCE * 3}]}
        for turn in range(20)
    ]
    messages.append({"role": "user", "content": [{"type": "text", "text": f"Entry {number:06d}?"}]})
    document = {"model": "claude-sonnet-4-6", "max_tokens": 256, "stream": True, "messages": messages}
    return HttpRequest("POST", PATH, {}, HEADERS, json.dumps(document).encode())


def parse_request(http_request: HttpRequest) -> Call:
    """The request, parsed."""
    call = WIRE.parse(http_request, _WORLD)
    assert isinstance(call, Call), call
    return call


def write(path: Path, interactions: int) -> None:
    """A cassette of so many exchanges."""
    recorder = Recorder(
        adapter="bench", scenario="fixed", dialect=WIRE, model="claude-sonnet-4-6", recorded="emulated", day=_DAY
    )
    for number in range(interactions):
        http_request = request(number)
        call = parse_request(http_request)
        reply = Reply((ReplyPart(Text(f"Entry {number:06d}: {_SENTENCE}")),), FinishReason.STOP)
        rendered = WIRE.render(call, reply, PromptUsage(1500), _WORLD, str(number))
        chunks = [event.data for event in rendered.events]
        recorder.add(
            http_request, call, status=rendered.status, headers=rendered.headers, chunks=chunks, turn=number, round_=0
        )
    save(recorder.cassette(), path)


_DAY = date(2026, 1, 1)
