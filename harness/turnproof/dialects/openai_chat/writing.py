"""The small change of answers: ids derived from a seed, bodies, and the lines of a stream."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ...messages import JSON
from ..base import WireEvent
from ..seeded_random import seeded_number, seeded_word
from ..sse import Spelling
from .chunk_kinds import kind_of
from .surfaces import Surface

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_HEX = "0123456789abcdef"
_encode = msgspec.json.Encoder().encode

DONE = WireEvent(b"data: [DONE]\n\n", "end")


def headers(surface: Surface, seed: str, content_type: str) -> dict[str, str]:
    """The head of an answer. Z.ai and a local Ollama give no id there, as recorded."""
    found = {"content-type": content_type}
    if surface not in (Surface.ZAI, Surface.OLLAMA):
        found["x-request-id"] = f"req_{seeded_word(_HEX, 32, seed, 'request')}"
    return found


def json_headers(surface: Surface, seed: str) -> dict[str, str]:
    """The head of a body in one piece."""
    return headers(surface, seed, "application/json")


def sse_headers(surface: Surface, seed: str) -> dict[str, str]:
    """The head of a stream."""
    return headers(surface, seed, "text/event-stream; charset=utf-8")


def answer_id(surface: Surface, seed: str) -> str:
    """The id of an answer, as the surface forms it."""
    if surface is Surface.OLLAMA:
        return f"chatcmpl-{seeded_number(seed, 'answer') % 1000}"
    if surface is Surface.ZAI:
        return f"20260701{seeded_word('0123456789', 6, seed, 'time')}{seeded_word(_HEX, 16, seed, 'answer')}"
    return f"chatcmpl-{seeded_word(_BASE62, 26, seed, 'answer')}"


def call_id(surface: Surface, seed: str, number: int) -> str:
    """The id of a call."""
    alphabet, length = (_BASE36, 8) if surface is Surface.OLLAMA else (_BASE62, 24)
    return f"call_{seeded_word(alphabet, length, seed, 'call', number)}"


def obfuscation(seed: str, serial: int) -> str:
    """The filler that hides from an onlooker how long a piece is."""
    return seeded_word(_BASE62, 1 + seeded_number(seed, "padding", serial) % 14, seed, "filler", serial)


def body_event(body: JSON) -> WireEvent:
    """A whole body as the one event of a batch answer."""
    return WireEvent(_encode(body), "body")


def chunk_event(chunk: JSON) -> WireEvent:
    """One chunk of a stream: a data line without a name."""
    return WireEvent(b"data: %b\n\n" % _encode(chunk), *kind_of(chunk))


NOISE = (b": keep-alive\n\n", b"retry: 3000\n\n")
SPELLINGS: Mapping[Spelling, str] = {
    "crlf": "proxies and gateways that write events anew; openai 3.54 takes LF, CRLF and CR",
    "unspaced": "servers that imitate the API (defects:ST11); openai 3.54 takes `data:{` as the standard has it",
    "padded": "JSON allows blanks anywhere between its tokens",
    "folded": "WHATWG HTML, 9.2.6: data on several lines is one text; openai 3.54 joins them",
    "overlapping": "servers that imitate the API (QwenLM/Qwen-Agent#943): pieces of several calls in turn, by index",
}
GARBAGE = b'data: {"id":"chatcmpl-","choices":[{"index":0,"delta":{"con\x07 <html>\n\n'
