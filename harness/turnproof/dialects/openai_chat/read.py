"""An answer read from its bytes alone: batch or stream, whole, cut, or an error under any status.

Reading never raises on what a server might send. A stream is whole once it has said how the answer ended: the official
client swallows the `[DONE]` behind that, so nobody can be asked to miss it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...messages import JSON, FunctionCall, TokenUsage
from ..base import WireAnswer, WireEvent
from ..lenient_reading import json_of, read_safely, seconds, wait, word
from ..sse import Frame, frames, is_event_stream
from . import finishes
from .chunk_kinds import kind_of
from .content import is_refusal
from .message_assembly import Assembled
from .usage import usage_of

_DONE = "[DONE]"


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    read = _read_stream if _is_stream(headers, body) else _read_batch
    return replace(read_safely(status, partial(read, status, body)), retry_after=_wait(headers))


def _is_stream(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether an answer is a stream; recorded is also one that was called JSON, and the official client reads it."""
    return is_event_stream(headers.get("content-type", ""), body) or body.startswith(b"data:")


def _wait(headers: Mapping[str, str]) -> float | None:
    header_wait, exact = wait(headers), seconds(headers.get("retry-after-ms"))
    return header_wait if header_wait is not None or exact is None else exact / 1000


@dataclass(slots=True)
class _Answer:
    """What the chunks have said so far."""

    model: str = ""
    choices: dict[int, Assembled] = field(default_factory=dict)
    usage: TokenUsage | None = None
    failed: bool = False
    error_kind: str | None = None
    error_message: str | None = None

    def read_chunk(self, chunk: JSON, member: str) -> None:
        """One chunk, or a whole answer, whose choices hold a `delta` or a `message`."""
        if not isinstance(chunk, dict):
            return
        self._error(chunk)
        self.model = word(chunk.get("model")) or self.model
        self.usage = usage_of(chunk.get("usage")) or self.usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                index = choice["index"] if type(choice.get("index")) is int else 0
                words = choice.get(member)
                state = self.choices.setdefault(index, Assembled())
                state.add_delta(words if isinstance(words, dict) else {}, _finish(choice))

    def _error(self, chunk: Mapping[str, Any]) -> None:
        """An error in any of the forms: an object, a text, or Z.ai's envelope under status 200."""
        error = chunk.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            kind = str(code) if isinstance(code, str | int) and str(code) else word(error.get("type"))
            self.failed, self.error_kind, self.error_message = True, kind, word(error.get("message"))
        elif isinstance(error, str):
            self.failed, self.error_message = True, error
        elif chunk.get("success") is False:
            self.failed, self.error_kind, self.error_message = True, str(chunk.get("code")), word(chunk.get("msg"))

    def read(self, status: int, *, whole: bool) -> WireAnswer:
        chosen = _chosen(self.choices)
        raw = chosen[0].raw_finish if chosen else None
        ended = whole or raw is not None
        found = [part for each in chosen for part in each.parts(self.model, ended=ended)]
        parts = tuple(part for part in found if part is not None)
        calls = any(isinstance(part, FunctionCall) for part in parts)
        refused = any(map(is_refusal, parts))
        return WireAnswer(
            status,
            parts=parts,
            usage=self.usage,
            finish=finishes.neutral(raw, calls=calls, refused=refused),
            raw_finish=raw,
            finish_word=finishes.neutral(raw, calls=calls, refused=False) if refused else None,
            complete=whole and (not self.failed or status >= 400),
            broken_calls=len(found) - len(parts),
            error_kind=self.error_kind,
            error_message=self.error_message,
            model=self.model or None,
        )


def _finish(choice: Mapping[str, Any]) -> JSON:
    """How a choice ended; the first models with eyes said it in an object (recorded)."""
    details = choice.get("finish_details")
    return choice.get("finish_reason") or (details.get("type") if isinstance(details, dict) else None)


def _chosen(choices: Mapping[int, Assembled]) -> Sequence[Assembled]:
    """The first choice; with the others where it promises calls that only they have.

    Several choices are alternatives to each other (`n`), but Copilot puts the calls of Claude into one of their own.
    """
    rows = [choice for _, choice in sorted(choices.items())]
    first = rows[:1]
    if first and first[0].raw_finish == finishes.TOOL_CALLS and not first[0].calls:
        return rows
    return first


def _read_batch(status: int, body: bytes) -> WireAnswer:
    message = json_of(body)
    if not isinstance(message, dict):
        return WireAnswer(status, complete=False, error_message=body[:500].decode(errors="replace") or None)
    answer = _Answer()
    answer.read_chunk(message, "message")
    return answer.read(status, whole=True)


def _read_stream(status: int, body: bytes) -> WireAnswer:
    answer, damaged = _Answer(), False
    for frame in frames(body):
        chunk = _chunk(frame)
        damaged = damaged or (frame.data is not None and chunk is None)
        answer.read_chunk(chunk, "delta")
    ended = any(choice.raw_finish is not None for choice in answer.choices.values())
    return answer.read(status, whole=ended and not damaged)


def _chunk(frame: Frame) -> JSON:
    """The JSON of a frame; an empty object for the end marker, None for what cannot be read."""
    if frame.data is None or not frame.closed:
        return None
    return {} if frame.data.strip() == _DONE else json_of(frame.data)


# -- streams


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    if not _is_stream(headers, body):
        return (WireEvent(body, "body"),)
    return tuple(map(_event, frames(body)))


def _event(frame: Frame) -> WireEvent:
    if (frame.data or "").strip() == _DONE:
        return WireEvent(frame.raw, "end")
    return WireEvent(frame.raw, *kind_of(_chunk(frame)))
