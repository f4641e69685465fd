"""The SDK's stream reader takes less than the standard allows; what it is given is the same stream, legible to it."""

from __future__ import annotations

import itertools
import json

import pytest
from azure.ai.inference.models import StreamingChatCompletions

from turnproof_adapters.github_models.readable_stream import FailureTold, readable_pieces

from .kit import DONE, answer, chunk, stream

EVENTS = stream({"content": "it’s "}, {"content": "北🌍"})
SPELLINGS = {
    "as-it-is": b"".join(EVENTS),
    "crlf": b"".join(EVENTS).replace(b"\n", b"\r\n"),
    "unspaced": b"".join(EVENTS).replace(b"data: ", b"data:"),
    "comments": b": keep-alive\n\n" + b"retry: 3000\n\n".join(EVENTS),
    "named": b"".join(b"event: message\nid: 7\n" + each for each in EVENTS),
    "in-lines": b"".join(each.replace(b', "choices"', b'\ndata: , "choices"') for each in EVENTS),
    "marked": b"\xef\xbb\xbf" + b"".join(EVENTS),
}


def read_pieces(body: bytes, size: int = 7, content_type: str = "text/event-stream") -> list[bytes]:
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return list(readable_pieces(content_type, pieces))


def payloads(events: list[bytes]) -> list[object]:
    assert all(event.startswith(b"data: ") for event in events)
    assert all(event.endswith(b"\n\n") for event in events)
    assert all(event.count(b"\n") == 2 for event in events)
    assert events[-1] == DONE
    return [json.loads(event[6:]) for event in events[:-1]]


EXPECTED = payloads(EVENTS)


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("size", [1, 7, 4096])
def test_every_spelling_of_a_stream_is_the_same_stream(name: str, size: int) -> None:
    assert payloads(read_pieces(SPELLINGS[name], size)) == EXPECTED


def test_a_stream_that_ends_without_its_mark_gets_one() -> None:
    assert payloads(read_pieces(b"".join(EVENTS[:-1]))) == EXPECTED


def test_what_the_sdk_reads_of_it_is_what_was_said() -> None:
    class Response:
        def iter_bytes(self) -> object:
            return readable_pieces("text/event-stream", iter([SPELLINGS["comments"]]))

    updates = StreamingChatCompletions(Response())  # type: ignore[arg-type]
    texts = [update.choices[0].delta.content for update in updates if update.choices]
    assert texts == ["it’s ", "北🌍", None]


WHOLE = json.dumps(answer("hi"))


@pytest.mark.parametrize("body", [WHOLE, json.dumps(answer("hi"), indent=1), f"\r\n{WHOLE}"])
def test_an_answer_in_one_piece_is_one_event(body: str) -> None:
    assert payloads(read_pieces(body.encode(), content_type="application/json; charset=utf-8")) == [answer("hi")]


def test_a_stream_that_calls_itself_json_is_read_as_one() -> None:
    assert payloads(read_pieces(SPELLINGS["as-it-is"], content_type="application/json")) == EXPECTED


@pytest.mark.parametrize(
    "error_body",
    [
        b'{"error":{"code":"RateLimitReached","message":"Sorry"}}',
        b'{"error":"Sorry"}',
        b'{"object":"error","message":"Sorry"}',
    ],
)
def test_a_failure_inside_a_stream_is_raised(error_body: bytes) -> None:
    events = readable_pieces("text/event-stream", iter([EVENTS[1], b"data: " + error_body + b"\n\n", *EVENTS]))
    assert next(events) == EVENTS[1]
    with pytest.raises(FailureTold) as failure:
        next(events)
    assert failure.value.failure.text == "Sorry"


def test_a_chunk_of_the_filter_is_no_failure() -> None:
    assert payloads(read_pieces(chunk() + DONE)) == payloads([chunk(), DONE])


def test_what_is_behind_the_end_is_read_only_when_more_is_asked_for() -> None:
    consumed: list[bytes] = []

    def pieces() -> itertools.chain[bytes]:
        return itertools.chain.from_iterable([note(DONE)] for DONE in (*EVENTS, b": bye\n\n"))

    def note(piece: bytes) -> bytes:
        consumed.append(piece)
        return piece

    events = readable_pieces("text/event-stream", iter(pieces()))
    for event in events:
        if event == DONE:
            break
    assert consumed == EVENTS
    assert list(events) == []
    assert consumed == [*EVENTS, b": bye\n\n"]
