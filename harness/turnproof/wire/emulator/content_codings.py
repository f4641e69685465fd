"""How the body of a request is encoded, and which codings the emulator reads."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from ...dialects.base import HttpRequest, Refusal, Rule

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""How zlib reads each coding; 47 finds out by itself."""

UNREAD_CODING = Rule(
    "http/content-encoding",
    note="HTTP lets a server answer 415; nobody has shown what these services answer, and Ollama does not look at the "
    "header (ollama/ollama#12386)",
)


def coding_of(headers: Mapping[str, str]) -> str:
    """The coding of the body; empty for none."""
    name = headers.get("content-encoding", "").strip().lower()
    return "" if name == "identity" else name


def unpack(body: bytes, coding: str, most: int) -> bytes | None:
    """The content of a body in this coding; None where it has more than `most` bytes.

    A body in a coding that is not read here is its own content. Raises zlib.error for one that is damaged.
    """
    if not body or coding not in _WINDOW_BITS:
        return body
    unpacker = zlib.decompressobj(_WINDOW_BITS[coding])
    content = unpacker.decompress(body, most + 1)
    if len(content) > most:
        return None
    if not unpacker.eof:
        raise zlib.error("the body is cut")
    return content


def unread_coding(request: HttpRequest) -> tuple[Refusal, ...]:
    """What a service would perhaps refuse: a body in a coding that is not read here. It is logged alone."""
    coding = coding_of(request.headers)
    if not request.body or not coding or coding in _WINDOW_BITS:
        return ()
    words = f"The body has the Content-Encoding {coding[:40]!r}, which the emulator does not read."
    return (Refusal(UNREAD_CODING, 415, "unsupported_media_type", words),)
