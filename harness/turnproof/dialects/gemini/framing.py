"""The framings of a stream, taken apart: SSE events, or the elements of one JSON array that grows.

Nothing is lost: the pieces' bytes joined are the body, also where it ends in the middle of a piece.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...messages import JSON
from ..lenient_reading import json_of
from ..sse import frames, is_event_stream

# A string, also one that is cut off, or a bracket; what lies between them has no say in where an element ends.
_TOKEN = re.compile(rb'"(?:[^"\\]+|\\.|\\\Z)*(?:"|\Z)|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk as it stood on the wire. `whole` is False for what is cut off, or carries no JSON where it should.

    `data` is the JSON of the chunk; None where it has none (a blank line, a comment) or it cannot be read.
    """

    raw: bytes
    data: JSON
    whole: bool = True


def pieces(headers: Mapping[str, str], body: bytes) -> list[Piece] | None:
    """The chunks of a streamed answer; None for an answer in one piece."""
    if is_event_stream(headers.get("content-type", ""), body):
        return _events(body)
    return _elements(body) if body.lstrip().startswith(b"[") else None


def _events(body: bytes) -> list[Piece]:
    found = []
    for frame in frames(body):
        data = json_of(frame.data) if frame.data is not None else None
        found.append(Piece(frame.raw, data, frame.data is None or (frame.closed and data is not None)))
    return found


def _elements(body: bytes) -> list[Piece]:
    """The elements with the separators in front of them; the last one has the bracket that closes the array."""
    found: list[Piece] = []
    depth = start = element_start = 0
    for token in _TOKEN.finditer(body):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                element_start = token.start() if depth == 2 else element_start
            case b"}" | b"]":
                depth -= 1
                if depth == 1:
                    data = json_of(body[element_start : token.end()])
                    found.append(Piece(body[start : token.end()], data, data is not None))
                    start = token.end()
    rest = body[start:]
    if found and rest.strip() == b"]":
        found[-1] = Piece(found[-1].raw + rest, found[-1].data, found[-1].whole)
    elif rest:
        found.append(Piece(rest, None, whole=False))
    elif found:
        # Ends behind an element: that one is whole, the array is not.
        found.append(Piece(b"", None, whole=False))
    return found
