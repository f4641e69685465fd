"""A stream as events, as faults and reports count them."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import EventKind, WireEvent
from ..lenient_reading import json_of, split_event_stream
from ..sse import Frame

_KINDS: Mapping[str, EventKind] = {
    "response.created": "start",
    "response.in_progress": "start",
    "response.queued": "start",
    "response.output_item.added": "block_start",
    "response.content_part.added": "block_start",
    "response.reasoning_summary_part.added": "block_start",
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "args",
    "response.function_call_arguments.done": "args",
    "response.output_text.done": "block_end",
    "response.refusal.done": "block_end",
    "response.content_part.done": "block_end",
    "response.reasoning_text.done": "block_end",
    "response.reasoning_summary_text.done": "block_end",
    "response.reasoning_summary_part.done": "block_end",
    "response.output_item.done": "block_end",
    "response.completed": "end",
    "response.incomplete": "end",
    "response.failed": "error",
    "error": "error",
}


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    return split_event_stream(headers, body, _event)


def _event(frame: Frame) -> WireEvent:
    data = json_of(frame.data) if frame.data is not None else None
    match data:
        case {"type": "response.output_text.delta" | "response.refusal.delta", "delta": str(text)}:
            return WireEvent(frame.raw, "text", text)
        case {"type": "response.output_item.done", "item": {"type": "reasoning"}}:
            return WireEvent(frame.raw, "signature")
        case {"type": str(kind)}:
            return WireEvent(frame.raw, _KINDS.get(kind, "ping"))
    return WireEvent(frame.raw, _KINDS.get(frame.event or "", "ping"))
