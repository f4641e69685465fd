"""An answer read from its bytes alone: batch, SSE or JSON array, whole, cut, or an error under any status.

Reading never raises on what a server might send. What was cut is reported by `complete`; a call cannot be cut, it is
there or not. Neighbouring unsigned texts of a stream are one part; a signed part is never joined with another, as
the API demands of its clients. A text without letters and signature says nothing and is no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ...messages import JSON, FinishReason, FunctionCall, Part, Text, Thought, TokenUsage
from ..base import EventKind, WireAnswer, WireEvent
from ..lenient_reading import json_of, number, read_safely, seconds, wait, word
from . import finishes
from .framing import pieces
from .parts import part_of
from .usage import prompt_only_usage, usage_of

Unwrap: TypeAlias = Callable[[JSON], JSON]
"""From what stood on the wire, a chunk or a whole answer, to the message of this API that it holds."""


def _bare(message: JSON) -> JSON:
    return message


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    return read_answer(status, headers, body, _bare)


def read_answer(status: int, headers: Mapping[str, str], body: bytes, unwrap: Unwrap) -> WireAnswer:
    """The answer of an API that carries this one's, perhaps in an envelope; never raises, if `unwrap` does not."""

    def read() -> WireAnswer:
        answer = _read(status, headers, body, unwrap)
        hint = wait(headers)
        return answer if hint is None else replace(answer, retry_after=hint)

    return read_safely(status, read)


def _read(status: int, headers: Mapping[str, str], body: bytes, unwrap: Unwrap) -> WireAnswer:
    state = _Answer()
    found = pieces(headers, body)
    if found is not None:
        for piece in found:
            state.read_chunk(unwrap(piece.data), joining=True)
        # The end of a stream is its finish: nothing else says that it is whole.
        whole = all(piece.whole for piece in found) and state.raw_finish is not None
        return state.read(status, complete=whole)
    message = unwrap(json_of(body))
    if not isinstance(message, dict):
        return WireAnswer(status, complete=False, error_message=body[:500].decode(errors="replace") or None)
    if "totalTokens" in message:
        return WireAnswer(status, usage=prompt_only_usage(number(message, "totalTokens")))
    if "expireTime" in message:
        usage = message.get("usageMetadata")
        return WireAnswer(
            status, usage=prompt_only_usage(number(usage, "totalTokenCount")) if isinstance(usage, dict) else None
        )
    state.read_chunk(message, joining=False)
    return state.read(status, complete=True)


@dataclass(slots=True)
class _Answer:
    """What the chunks have said so far."""

    parts: list[Part] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    usage: TokenUsage | None = None
    model: str | None = None
    raw_finish: str | None = None
    blocked: bool = False
    error: dict[str, Any] | None = None

    def read_chunk(self, chunk: JSON, *, joining: bool) -> None:
        """One chunk, or a whole answer. What it does not hold changes nothing."""
        if not isinstance(chunk, dict):
            return
        if isinstance(error := chunk.get("error"), dict):
            self.error = error
        # Cumulative: the last figures are the figures.
        self.usage = usage_of(chunk.get("usageMetadata")) or self.usage
        if (reason := _block_reason(chunk)) is not None:
            self.raw_finish, self.blocked = reason, True
        self.model = word(chunk.get("modelVersion")) or self.model
        candidate = _candidate(chunk)
        self.raw_finish = finishes.word_of(candidate.get("finishReason")) or self.raw_finish
        for wire in _parts(candidate):
            self._add(part_of(wire, word(chunk.get("modelVersion")) or ""), joining)

    def _add(self, part: Part, joining: bool) -> None:
        if isinstance(part, Text | Thought) and part.provider_data is None:
            if not part.text:
                return
            last = self.parts[-1] if self.parts else None
            if joining and type(last) is type(part) and last.provider_data is None:
                self.words.append(part.text)
                return
        self._end_words()
        self.parts.append(part)

    def _end_words(self) -> None:
        """The last part is over: what came after it of the same text is joined to it, once."""
        if self.words and isinstance(last := self.parts[-1], Text | Thought):
            self.parts[-1] = type(last)("".join([last.text, *self.words]))
            self.words.clear()

    def read(self, status: int, *, complete: bool) -> WireAnswer:
        self._end_words()
        calls = any(isinstance(part, FunctionCall) for part in self.parts)
        finish = FinishReason.SAFETY if self.blocked else finishes.neutral(self.raw_finish, calls=calls)
        answer = WireAnswer(
            status,
            parts=tuple(self.parts),
            usage=self.usage,
            finish=finish,
            raw_finish=self.raw_finish,
            complete=complete and self.error is None,
            broken_calls=int(self.raw_finish == finishes.MALFORMED_CALL),
            model=self.model,
        )
        if self.error is None:
            return answer
        return replace(
            answer,
            complete=answer.complete or status >= 400,
            error_kind=word(self.error.get("status")) or str(self.error.get("code", "")),
            error_message=word(self.error.get("message")),
            retry_after=_retry_delay(self.error.get("details")),
        )


def _block_reason(chunk: Mapping[str, Any]) -> str | None:
    """Why the prompt was not answered; feedback on a prompt that was has no such reason."""
    feedback = chunk.get("promptFeedback")
    return word(feedback.get("blockReason")) if isinstance(feedback, dict) else None


def _candidate(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first candidate; empty where there is none."""
    candidates = chunk.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    return first if isinstance(first, dict) else {}


def _parts(candidate: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _retry_delay(details: JSON) -> float | None:
    """The seconds of a `RetryInfo`: "48s", "0.5s"."""
    for detail in details if isinstance(details, list) else ():
        delay = word(detail.get("retryDelay")) if isinstance(detail, dict) else None
        if delay is not None:
            return seconds(delay.removesuffix("s"))
    return None


# -- streams


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    return split_enveloped(headers, body, _bare)


def split_enveloped(headers: Mapping[str, str], body: bytes, unwrap: Unwrap) -> tuple[WireEvent, ...]:
    """The body of an API that carries this one's chunks, perhaps in an envelope, as events."""
    found = pieces(headers, body)
    if found is None:
        return (WireEvent(body, "body"),)
    return tuple(WireEvent(piece.raw, *_kind(unwrap(piece.data))) for piece in found if piece.raw)


def _kind(chunk: JSON) -> tuple[EventKind, str]:
    if not isinstance(chunk, dict):
        return "ping", ""
    if "error" in chunk:
        return "error", ""
    candidate = _candidate(chunk)
    parts = _parts(candidate)
    visible = [part for part in parts if part.get("thought") is not True]
    text = "".join(part["text"] for part in visible if isinstance(part.get("text"), str))
    if candidate.get("finishReason") or _block_reason(chunk):
        return "end", text
    if any("functionCall" in part for part in parts):
        return "args", text
    if not parts:
        return "usage", ""
    return ("text" if visible else "thinking"), text
