"""An answer read from its bytes alone: batch or stream, whole, cut, or an error under any status.

Reading never raises on what a server might send. Unknown events, deltas and blocks are ignored or kept as `Opaque`,
as the API asks its clients to; what was cut is reported by `complete` and `broken_calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ...messages import JSON, Part, TokenUsage
from ..base import EventKind, WireAnswer, WireEvent
from ..lenient_reading import event_documents, json_of, not_json, number, read_batch_or_stream, split_event_stream, word
from ..sse import Frame
from . import stop_reasons
from .blocks import Issuer, read_block
from .rules import NAME

_INPUTS = ("tool_use", "server_tool_use", "mcp_tool_use")

Complaint: TypeAlias = Callable[[Mapping[str, Any], int], tuple[str | None, str | None] | None]
"""What a document under a status complains of, as the kind and the message of an error; None if it is no error."""


def error_of(document: Mapping[str, Any], status: int) -> tuple[str | None, str | None] | None:
    """The errors of the Messages API itself."""
    if document.get("type") != "error" and status < 400:
        return None
    error = document.get("error")
    return (word(error.get("type")), word(error.get("message"))) if isinstance(error, dict) else (None, None)


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    return read_answer(status, headers, body, NAME, error_of)


def read_answer(status: int, headers: Mapping[str, str], body: bytes, dialect: str, complaint: Complaint) -> WireAnswer:
    """The answer of a service with this format. `dialect` is whose blocks they are, `complaint` finds its errors."""
    batch = partial(_read_batch, dialect=dialect, complaint=complaint)
    stream = partial(_read_stream, dialect=dialect, complaint=complaint)
    return read_batch_or_stream(status, headers, body, batch=batch, stream=stream)


def _read_batch(status: int, body: bytes, dialect: str, complaint: Complaint) -> WireAnswer:
    message = json_of(body)
    if not isinstance(message, dict):
        return not_json(status, body)
    if (error := complaint(message, status)) is not None:
        return WireAnswer(status, error_kind=error[0], error_message=error[1])
    if "input_tokens" in message and "content" not in message:
        counted = number(message, "input_tokens")
        return WireAnswer(status, usage=TokenUsage(prompt_tokens=counted, total_tokens=counted))
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    raw_finish = word(message.get("stop_reason"))
    issuer = Issuer(dialect, str(message.get("model", "")))
    return WireAnswer(
        status,
        parts=tuple(read_block(block, issuer) for block in blocks),
        usage=usage_of(message.get("usage")),
        finish=stop_reasons.neutral(raw_finish),
        raw_finish=raw_finish,
        model=word(message.get("model")),
    )


def usage_of(usage: JSON) -> TokenUsage | None:
    """The API's usage in neutral figures: cached tokens count as prompt."""
    if not isinstance(usage, dict):
        return None
    read, created = number(usage, "cache_read_input_tokens"), number(usage, "cache_creation_input_tokens")
    prompt = number(usage, "input_tokens") + read + created
    output = number(usage, "output_tokens")
    details = usage.get("output_tokens_details")
    thinking = number(details, "thinking_tokens") if isinstance(details, dict) else 0
    return TokenUsage(prompt, output, prompt + output, read, created, thinking)


# -- streams


@dataclass(slots=True)
class _Block:
    """A block as it started, and what its deltas added, by field."""

    start: dict[str, Any]
    added: dict[str, list[Any]] = field(default_factory=dict)
    closed: bool = False

    def add(self, name: str, piece: object) -> None:
        self.added.setdefault(name, []).append(piece)


@dataclass(slots=True)
class _Stream:
    """What the events have said so far."""

    model: str = ""
    blocks: dict[int, _Block] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    raw_finish: str | None = None
    ended: bool = False
    damaged: bool = False

    def read_event(self, event: JSON) -> None:
        """One event; unknown ones change nothing."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self.model = str(message.get("model", ""))
                self._merge_usage(message.get("usage"))
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self.blocks[index] = _Block(dict(block))
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                if (open_block := self.blocks.get(index)) is not None:
                    _extend(open_block, delta)
            case {"type": "content_block_stop", "index": int(index)}:
                if (open_block := self.blocks.get(index)) is not None:
                    open_block.closed = True
            case {"type": "message_delta", "delta": dict(delta)}:
                self.raw_finish = word(delta.get("stop_reason")) or self.raw_finish
                self._merge_usage(event.get("usage"))
            case {"type": "message_stop"}:
                self.ended = True

    def _merge_usage(self, usage: JSON) -> None:
        # Cumulative: later figures replace earlier ones, missing ones leave them standing.
        if isinstance(usage, dict):
            self.usage = (self.usage or {}) | {key: value for key, value in usage.items() if value is not None}


def _extend(block: _Block, delta: Mapping[str, Any]) -> None:
    match delta:
        case {"type": "text_delta", "text": str(text)}:
            block.add("text", text)
        case {"type": "thinking_delta", "thinking": str(text)}:
            block.add("thinking", text)
        case {"type": "signature_delta", "signature": str(signature)}:
            block.add("signature", signature)
        case {"type": "input_json_delta", "partial_json": str(fragment)}:
            block.add("input", fragment)
        case {"type": "citations_delta", "citation": citation}:
            block.add("citations", citation)
        case {"type": "compaction_delta"}:
            block.start.update({key: value for key, value in delta.items() if key != "type"})


def _read_stream(status: int, body: bytes, dialect: str, complaint: Complaint) -> WireAnswer:
    stream = _Stream()
    error: tuple[str | None, str | None] | None = None
    for event in event_documents(body):
        stream.damaged = stream.damaged or event is None
        stream.read_event(event)
        error = error or (complaint(event, 200) if isinstance(event, dict) else None)
    parts: list[Part] = []
    broken = 0
    issuer = Issuer(dialect, stream.model)
    for _, block in sorted(stream.blocks.items()):
        part = _finished(block, issuer)
        if part is None:
            broken += 1
        else:
            parts.append(part)
    return WireAnswer(
        status,
        parts=tuple(parts),
        usage=usage_of(stream.usage),
        finish=stop_reasons.neutral(stream.raw_finish),
        raw_finish=stream.raw_finish,
        complete=stream.ended and not stream.damaged and error is None,
        broken_calls=broken,
        error_kind=error[0] if error else None,
        error_message=error[1] if error else None,
        model=stream.model or None,
    )


def _finished(block: _Block, issuer: Issuer) -> Part | None:
    """The block as a part, or None for a call whose arguments never became whole."""
    whole = dict(block.start)
    if whole.get("type") in _INPUTS:
        if not block.closed:
            return None
        if text := "".join(block.added.get("input", ())):
            whole["input"] = json_of(text)
            if not isinstance(whole["input"], dict):
                return None
    for name in ("text", "thinking", "signature"):
        if name in block.added:
            whole[name] = str(whole.get(name) or "") + "".join(block.added[name])
    if "citations" in block.added:
        start = whole.get("citations")
        whole["citations"] = [*(start if isinstance(start, list) else ()), *block.added["citations"]]
    return read_block(whole, issuer)


_EVENT_KINDS: Mapping[str, EventKind] = {
    "message_start": "start",
    "content_block_start": "block_start",
    "content_block_stop": "block_end",
    "message_delta": "usage",
    "message_stop": "end",
    "ping": "ping",
    "error": "error",
}
_DELTA_KINDS: Mapping[str, EventKind] = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "args",
    "compaction_delta": "text",
}


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    return split_event_stream(headers, body, _event)


def _event(frame: Frame) -> WireEvent:
    data = json_of(frame.data) if frame.data is not None else None
    match data:
        case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
            return WireEvent(frame.raw, "text", text)
        case {"type": "content_block_delta", "delta": {"type": str(delta)}}:
            return WireEvent(frame.raw, _DELTA_KINDS.get(delta, "text"))
        case {"type": str(kind)}:
            return WireEvent(frame.raw, _EVENT_KINDS.get(kind, "ping"))
    return WireEvent(frame.raw, _EVENT_KINDS.get(frame.event or "", "ping"))
