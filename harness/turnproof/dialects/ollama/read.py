"""An answer read from its bytes alone, whichever surface wrote it; never raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import PayloadError
from ...messages import JSON, FunctionCall, Part, Text, Thought, TokenUsage
from ..anthropic_messages import read as anthropics
from ..base import EventKind, WireAnswer, WireEvent
from ..lenient_reading import json_of, number, wait, word
from ..ndjson import Line, is_ndjson, lines
from ..sse import is_event_stream
from . import finishes
from .errors import error_of
from .rules import NAME


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form."""
    kind = headers.get("content-type", "")
    if is_ndjson(kind):
        return replace(_read_lines(status, body), retry_after=wait(headers))
    document = None if is_event_stream(kind, body) else json_of(body)
    if isinstance(document, dict) and _is_native(document):
        return replace(_read_whole(status, document), retry_after=wait(headers))
    return anthropics.read_answer(status, headers, body, NAME, error_of)


def _is_native(document: Mapping[str, Any]) -> bool:
    return "done" in document or isinstance(document.get("error"), str)


def _read_whole(status: int, document: Mapping[str, Any]) -> WireAnswer:
    state = _Answer()
    state.read_object(document)
    return state.answer(status, complete=state.error is not None or state.done)


def _read_lines(status: int, body: bytes) -> WireAnswer:
    state = _Answer()
    damaged = False
    for line in lines(body):
        whole = line.closed and isinstance(line.data, dict)
        damaged = damaged or not (whole or line.blank)
        if whole:
            state.read_object(line.data)
    return state.answer(status, complete=state.done and not damaged and state.error is None)


@dataclass(slots=True)
class _Answer:
    """What the objects of a native answer have said so far; there is one field each for thinking, text and calls."""

    model: str = ""
    thinking: list[str] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    usage: TokenUsage | None = None
    raw_finish: str | None = None
    done: bool = False
    error: tuple[str | None, str | None] | None = None

    def read_object(self, document: Mapping[str, Any]) -> None:
        """One object: the whole answer, or one line of it."""
        self.error = self.error or error_of(document, 200)
        message = document.get("message")
        message = message if isinstance(message, dict) else {}
        self.model = word(document.get("model")) or self.model
        self.thinking.append(word(message.get("thinking")) or word(document.get("thinking")) or "")
        self.content.append(word(message.get("content")) or word(document.get("response")) or "")
        calls = message.get("tool_calls")
        self.calls += [call for each in calls if (call := _call(each))] if isinstance(calls, list) else []
        if document.get("done") is True:
            self.done = True
            self.raw_finish = word(document.get("done_reason"))
            prompt, output = number(document, "prompt_eval_count"), number(document, "eval_count")
            self.usage = TokenUsage(prompt, output, prompt + output)

    def answer(self, status: int, *, complete: bool) -> WireAnswer:
        thinking, content = "".join(self.thinking), "".join(self.content)
        parts: list[Part] = [Thought(thinking)] if thinking else []
        parts += [Text(content)] if content else []
        kind, message = self.error or (None, None)
        return WireAnswer(
            status,
            parts=(*parts, *self.calls),
            usage=self.usage,
            finish=finishes.neutral(self.raw_finish, calls=bool(self.calls)),
            raw_finish=self.raw_finish,
            complete=complete,
            error_kind=kind,
            error_message=message,
            model=self.model or None,
        )


def _call(call: JSON) -> FunctionCall | None:
    """A call; None for what cannot be read as one."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments", {}), dict):
        return None
    try:
        return FunctionCall(word(call.get("id")) or "", word(function.get("name")) or "", function.get("arguments", {}))
    except (PayloadError, RecursionError):
        return None


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. An answer in one piece is one `body` event."""
    if is_ndjson(headers.get("content-type", "")):
        return tuple(map(_event, lines(body)))
    return anthropics.split_stream(headers, body)


def _event(line: Line) -> WireEvent:
    kind, text = _kind(line.data)
    return WireEvent(line.raw, kind, text)


def _kind(data: JSON) -> tuple[EventKind, str]:
    if not isinstance(data, dict):
        return "ping", ""
    if error_of(data, 200) is not None:
        return "error", ""
    if data.get("done") is True:
        return "end", ""
    message = data.get("message")
    message = message if isinstance(message, dict) else {}
    if message.get("tool_calls"):
        return "args", ""
    if message.get("thinking") or data.get("thinking"):
        return "thinking", ""
    return "text", word(message.get("content")) or word(data.get("response")) or ""
