"""Reading what a server might send: a value of another kind than expected counts as absent, and nothing raises."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

import msgspec

from ..errors import PayloadError
from ..messages import JSON
from .base import WireAnswer, WireEvent
from .sse import Frame, frames, is_event_stream

_decode = msgspec.json.Decoder().decode
_TOO_MANY = 1 << 50


def json_of(data: bytes | str) -> JSON:
    """The JSON value, or None for what is none (or is nested too deeply to be read)."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def word(value: JSON) -> str | None:
    """A string; None for anything else."""
    return value if isinstance(value, str) else None


def message_of(error: JSON) -> str | None:
    """What an error says, as an object with its message or as that message alone."""
    return word(error.get("message")) if isinstance(error, dict) else word(error)


def number(thing: Mapping[str, Any], name: str) -> int:
    """A member that counts something; 0 where it is missing, no integer, or more than there can be of anything."""
    value = thing.get(name)
    return value if type(value) is int and abs(value) < _TOO_MANY else 0


def wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that `retry-after` asks for, as a number or as a date, which counts from the answer's own `date`
    (RFC 9110, section 10.2.3); None without either."""
    hint = headers.get("retry-after")
    found = seconds(hint)
    if found is not None or hint is None:
        return found
    try:
        then, now = (parsedate_to_datetime(moment) for moment in (hint, headers.get("date", "")))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):  # a date without a zone cannot be set against one that has it
        return None


def seconds(value: str | None) -> float | None:
    """A number of seconds; None for a date or anything else."""
    try:
        found = math.nan if value is None else float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def read_safely(status: int, read: Callable[[], WireAnswer]) -> WireAnswer:
    """What `read` returns; an answer that is nested too deeply to be read is an incomplete one that says so."""
    try:
        return read()
    except (RecursionError, PayloadError):
        return WireAnswer(status, complete=False, error_message="the answer is nested too deeply to be read")


def read_batch_or_stream(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    batch: Callable[[int, bytes], WireAnswer],
    stream: Callable[[int, bytes], WireAnswer],
) -> WireAnswer:
    """The answer as one of the two functions reads it, with the time that it asks to wait; never raises, if they do
    not."""
    read = stream if is_event_stream(headers.get("content-type", ""), body) else batch
    return replace(read_safely(status, partial(read, status, body)), retry_after=wait(headers))


def not_json(status: int, body: bytes) -> WireAnswer:
    """A batch answer that is no JSON object: its beginning is all that can be told."""
    return WireAnswer(status, complete=False, error_message=body[:500].decode(errors="replace") or None)


def event_documents(body: bytes, *, end: str | None = None) -> Iterator[JSON]:
    """The JSON of each event of a stream, None for one that is cut off or is none. Comments, and the `end` marker that
    is no JSON, are left out."""
    for frame in frames(body):
        if frame.data is not None and not frame.closed:
            yield None
        elif frame.data is not None and (end is None or frame.data.strip() != end):
            yield json_of(frame.data)


def split_event_stream(
    headers: Mapping[str, str], body: bytes, event_of: Callable[[Frame], WireEvent]
) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    if not is_event_stream(headers.get("content-type", ""), body):
        return (WireEvent(body, "body"),)
    return tuple(map(event_of, frames(body)))
