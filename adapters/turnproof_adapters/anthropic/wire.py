"""The API's answers as typed data: a whole message, and the events of a stream.

Only what the adapter uses is named; everything else is ignored, as the API asks of its clients. Content blocks stay
plain dictionaries, since a block of a kind unknown here is kept verbatim.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from .._decoding import decode_json


class OutputDetails(msgspec.Struct, frozen=True):
    """How the output tokens divide."""

    thinking_tokens: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """Token figures as the API gives them: `input_tokens` excludes what the cache read or wrote."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None


class Answer(msgspec.Struct, frozen=True):
    """A message: the whole of a batch answer, or the empty shell at the head of a stream."""

    model: str
    content: list[dict[str, Any]] | None = []
    stop_reason: str | None = None
    usage: Usage | None = None


class Delta(msgspec.Struct, frozen=True):
    """The change that an event brings; which field is set depends on its type."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    citation: dict[str, Any] | None = None
    content: Any = None
    stop_reason: str | None = None


class Failure(msgspec.Struct, frozen=True):
    """An error inside a stream or an error body."""

    type: str | None = None
    message: str | None = None


class Event(msgspec.Struct, frozen=True):
    """One event of a stream."""

    type: str = ""
    index: int = -1
    message: Answer | None = None
    content_block: dict[str, Any] | None = None
    delta: Delta | None = None
    usage: Usage | None = None
    error: Failure | None = None


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of a refusal."""

    error: Failure | None = None


decode_answer = partial(decode_json, msgspec.json.Decoder(Answer))
"""A whole answer. Raises ValueError for what is none, RecursionError for one that is nested too deeply."""

decode_event = partial(decode_json, msgspec.json.Decoder(Event))
"""An event of a stream, in the same way."""
