"""The small change of answers: ids derived from a seed, bodies, and the two framings of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...messages import JSON
from ..base import EventKind, WireEvent
from ..seeded_random import seeded_word
from ..sse import Spelling

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_encode = msgspec.json.Encoder().encode

JSON_HEADERS: Mapping[str, str] = {"content-type": "application/json; charset=UTF-8"}
SSE_HEADERS: Mapping[str, str] = {"content-type": "text/event-stream"}


class Chunk(NamedTuple):
    """A whole `GenerateContentResponse` of a stream, with what it is as an event."""

    body: Mapping[str, Any]
    kind: EventKind
    text: str = ""


def call_id(seed: str, *labels: object) -> str:
    """The id of a call, as newer models give it: eight letters and digits."""
    return seeded_word(_BASE36, 8, seed, "call", *labels)


def response_id(seed: str) -> str:
    """A `responseId`: 23 characters of url-safe base64."""
    return seeded_word(_URL_SAFE, 23, seed, "response")


def body_event(body: JSON) -> WireEvent:
    """A whole body as the one event of a batch answer."""
    return WireEvent(_encode(body), "body")


def sse_event(chunk: Chunk) -> WireEvent:
    """One event: a data line without a name, its end CRLF CRLF, its spacing as recorded (blanks after colons only)."""
    line = json.dumps(chunk.body, ensure_ascii=False, separators=(",", ": "))
    return WireEvent(b"data: %b\r\n\r\n" % line.encode(), chunk.kind, chunk.text)


def array_events(chunks: Iterable[Chunk]) -> Iterator[WireEvent]:
    """The elements of one JSON array, as a stream without `alt=sse` sends them; the last one closes it."""
    opening = b"["
    waiting: WireEvent | None = None
    for chunk in chunks:
        if waiting is not None:
            yield waiting
        element = json.dumps(chunk.body, ensure_ascii=False, indent=2).encode()
        waiting = WireEvent(opening + element, chunk.kind, chunk.text)
        opening = b"\n,\r\n"
    if waiting is not None:
        yield WireEvent(waiting.data + b"\n]", waiting.kind, waiting.text)


NOISE: Sequence[bytes] = (b"\r\n", b"\r\n\r\n")
"""Blank lines are all that google-genai 3.4 reads over. A line that does not begin with `data: ` is JSON to it: a
comment, an `event:`, `id:` or `retry:` line breaks the stream, and so does `data:` without its blank."""

SPELLINGS: Mapping[Spelling, str] = {
    "lf": "proxies that write events anew end lines as most servers do; google-genai 3.4 takes CRLF, LF and CR",
    "padded": "recorded: indented JSON, and blanks after colons; JSON allows them anywhere between its tokens",
    "joined": "the API gives a chunk any number of parts (defects:ST16); google-genai 3.4 takes them all",
}
"""No byte order mark, and no `data:` without its blank: google-genai 3.4 reads neither, so no service can send them."""

GARBAGE = b'data: {"candidates": [{"content": {"parts": [{"te\x07 <html>\r\n\r\n'
