"""The small change of answers: ids derived from a seed, JSON bodies, SSE events, and how else a stream is spelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...messages import JSON
from ..base import EventKind, WireEvent
from ..seeded_random import seeded_word
from ..sse import Spelling

_HEX = "0123456789abcdef"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_encode = msgspec.json.Encoder().encode


def item_id(prefix: str, seed: str, *labels: object) -> str:
    """An id of the API's form (recorded: 50 digits, of which all ids of one response share the first 16)."""
    own = seeded_word(_HEX, 17, seed, prefix, *labels) + seeded_word(_HEX, 17, seed, prefix, "more", *labels)
    return f"{prefix}_{seeded_word(_HEX, 16, seed)}{own}"


def call_id(seed: str, *labels: object) -> str:
    """The id that links a call to its output: `call_` and 24 characters."""
    return f"call_{seeded_word(_BASE62, 24, seed, 'call', *labels)}"


def request_id(seed: str) -> str:
    """The id that stands in the `x-request-id` header."""
    return f"req_{seeded_word(_HEX, 24, seed, 'request')}"


def body_event(body: JSON) -> WireEvent:
    """A whole body as the one event of a batch answer."""
    return WireEvent(_encode(body), "body")


def json_line(data: JSON) -> bytes:
    """One message of a socket, as a body has it."""
    return _encode(data) + b"\n"


def sse(name: str, data: JSON, kind: EventKind, text: str = "") -> WireEvent:
    """One event, named after the type that its data gives."""
    return WireEvent(b"event: %b\ndata: %b\n\n" % (name.encode(), _encode(data)), kind, text)


NOISE: Sequence[bytes] = (b": keep-alive\n\n", b'event: keepalive\ndata: {"type":"keepalive","sequence_number":0}\n\n')
"""The event is not documented, but the service sends it in long streams (openai/openai-node#1964)."""

SPELLINGS: Mapping[Spelling, str] = {
    "crlf": "proxies and gateways that write events anew; openai 3.54 takes LF, CRLF and CR",
    "unspaced": "servers that imitate the API; openai 3.54 takes `data:{` as the standard has it",
    "folded": "WHATWG HTML, 9.2.6: data on several lines is one text; openai 3.54 joins them",
}

GARBAGE = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","del\x07 <html>\n\n'
