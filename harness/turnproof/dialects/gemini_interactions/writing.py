"""The small change of answers: ids and times, JSON bodies, SSE events, and how else a stream is spelled."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from ...messages import JSON
from ..base import EventKind, WireEvent
from ..seeded_random import seeded_word
from ..sse import Spelling

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_encode = msgspec.json.Encoder().encode

JSON_HEADERS: Mapping[str, str] = {"content-type": "application/json"}
STREAM_HEADERS: Mapping[str, str] = {"content-type": "text/event-stream"}


def interaction_id(seed: str) -> str:
    """An id of the API's form (recorded: `v1_` and base64 of a message that holds the same 23 characters twice)."""
    own = seeded_word(_BASE62, 23, seed, "interaction").encode()
    return "v1_" + b64encode(b"\n\x17%b\x12\x17%b" % (own, own)).decode().rstrip("=")


def call_id(seed: str, *labels: object) -> str:
    """The id of a call (documented and seen: eight letters and digits)."""
    return seeded_word(_BASE36, 8, seed, "call", *labels)


def timestamp(seconds: float) -> str:
    """A time as the service writes it, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def body_event(body: JSON) -> WireEvent:
    """A whole body as the one event of a batch answer."""
    return WireEvent(_encode(body), "body")


def sse(name: str, data: JSON, kind: EventKind, text: str = "") -> WireEvent:
    """One event, named after the type that its data gives."""
    return WireEvent(b"event: %b\ndata: %b\n\n" % (name.encode(), _encode(data)), kind, text)


DONE = WireEvent(b"event: done\ndata: [DONE]\n\n", "ping")
"""What every recorded stream ends with."""

NOISE: Sequence[bytes] = (b": keep-alive\n\n",)
"""A comment: the standard has a client read over it. None was recorded."""

SPELLINGS: Mapping[Spelling, str] = {
    "crlf": "proxies and gateways that write events anew; google-genai 3.6 takes LF, CRLF and CR",
    "folded": "WHATWG HTML, 9.2.6: data on several lines is one text; google-genai 3.6 joins them",
    "unspaced": "servers that imitate the API; google-genai 3.6 takes `data:{` as the standard has it",
}

GARBAGE = b'event: step.delta\ndata: {"event_type":"step.delta","del\x07 <html>\n\n'
