"""The small change of answers: ids derived from a seed, JSON bodies, SSE events with their padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...messages import JSON
from ..base import EventKind, WireEvent
from ..seeded_random import seeded_word
from ..sse import Spelling

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_encode = msgspec.json.Encoder().encode


def identifier(prefix: str, seed: str, *labels: object) -> str:
    """An id of the API's form: `msg_01…` with 22 characters drawn from the seed."""
    return f"{prefix}_01{seeded_word(_BASE58, 22, seed, prefix, *labels)}"


def request_id(seed: str) -> str:
    """The id that stands in the `request-id` header and in error bodies."""
    return identifier("req", seed)


def body_event(body: JSON) -> WireEvent:
    """A whole body as the one event of a batch answer."""
    return WireEvent(_encode(body), "body")


def sse(name: str, data: JSON, padding: int, kind: EventKind, text: str = "") -> WireEvent:
    """One event; `padding` blanks stand in front of the last brace, as the service writes them."""
    encoded = _encode(data)
    return WireEvent(b"event: %b\ndata: %b%b}\n\n" % (name.encode(), encoded[:-1], b" " * padding), kind, text)


PING = WireEvent(b'event: ping\ndata: {"type": "ping"}\n\n', "ping")
NOISE: Sequence[bytes] = (b": keep-alive\n\n", b"retry: 3000\n\n", PING.data)
SPELLINGS: Mapping[Spelling, str] = {
    "crlf": "proxies and gateways that write events anew; anthropic 2.12 takes LF, CRLF and CR",
    "unspaced": "servers that imitate the API (defects:ST11); anthropic 2.12 takes `data:{` as the standard has it",
    "padded": "recorded: blanks in front of the last brace",
    "folded": "WHATWG HTML, 9.2.6: data on several lines is one text; anthropic 2.12 joins them",
    "overlapping": "llama.cpp (`/v1/messages`): a block opens while the last one is open; each event names its own",
}
"""No byte order mark: anthropic 2.12 loses the first event behind one, so no service can send it."""

GARBAGE = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"del\x07 <html>\n\n'
