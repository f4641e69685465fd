"""A stream as events, as faults and reports count them."""

from __future__ import annotations

from collections.abc import Mapping

from ..base import EventKind, WireEvent
from ..lenient_reading import json_of, split_event_stream
from ..sse import Frame

_KINDS: Mapping[str, EventKind] = {
    "interaction.created": "start",
    "interaction.status_update": "start",
    "step.start": "block_start",
    "step.stop": "block_end",
    "interaction.completed": "end",
    "interaction.cancelled": "end",
    "error": "error",
}
_DELTAS: Mapping[str, EventKind] = {
    "text": "text",
    "thought_summary": "thinking",
    "thought_signature": "signature",
    "arguments_delta": "args",
}


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    return split_event_stream(headers, body, _event)


def _event(frame: Frame) -> WireEvent:
    if frame.data is not None and frame.data.strip() == "[DONE]":
        return WireEvent(frame.raw, "ping")  # the event before it has ended the answer
    data = json_of(frame.data) if frame.data is not None else None
    match data:
        case {"event_type": "step.delta", "delta": {"type": "text", "text": str(text)}}:
            return WireEvent(frame.raw, "text", text)
        case {"event_type": "step.delta", "delta": {"type": str(kind)}}:
            return WireEvent(frame.raw, _DELTAS.get(kind, "ping"))
        case {"event_type": "interaction.completed", "interaction": {"status": "failed"}}:
            return WireEvent(frame.raw, "error")
        case {"event_type": str(kind)}:
            return WireEvent(frame.raw, _KINDS.get(kind, "ping"))
    return WireEvent(frame.raw, _KINDS.get(frame.event or "", "ping"))
