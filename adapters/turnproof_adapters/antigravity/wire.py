"""The gateway's answers as typed data: Gemini's answer, usually in an envelope, sometimes an error in its place."""

from __future__ import annotations

import msgspec

from .._decoding import decode_json
from ..google_genai import wire
from ..google_genai.assemble import Chunk
from ..google_genai.target import Target
from ..google_genai.wire import Answer, AnswerOrError, ToldOfFailure


class Line(AnswerOrError, frozen=True, rename="camel"):
    """The envelope. Some clients have met answers without it; an error may stand in the place of either."""

    response: Answer | None = None


_lines = msgspec.json.Decoder(Line)


def decode_chunk(data: bytes, to: Target) -> Chunk:
    """An answer, or a piece of one. Raises ValueError for what is none, RecursionError for one that is nested too
    deeply, and ToldOfFailure for an error."""
    return chunk(decode_json(_lines, data), to)


def chunk(line: Line, to: Target) -> Chunk:
    """The same of data that has been decoded."""
    if line.error is not None:
        raise ToldOfFailure(line.error)
    return wire.chunk(line.response or line, to)
