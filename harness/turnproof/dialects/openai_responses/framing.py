"""A stream as events, as faults and reports count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...messages import JSON
from ..base import EventKind, WireEvent
from ..lenient_reading import event_documents, json_of, split_event_stream
from ..ndjson import lines
from ..sse import Frame, frames, is_event_stream

MESSAGES = "application/x-ndjson"
"""What a body of messages on a WebSocket, one a line, is noted as. No header says it: a message has none."""

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


def is_stream(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the body is a stream: events of HTTP, or the messages of a socket."""
    return _is_messages(headers) or is_event_stream(headers.get("content-type", ""), body)


def documents(headers: Mapping[str, str], body: bytes) -> Iterator[JSON]:
    """The JSON of each event of a stream, None for one that is cut off or is none."""
    if _is_messages(headers):
        yield from (one.data if one.closed else None for one in lines(body) if not one.blank)
    else:
        yield from event_documents(body, end="[DONE]")


def all_documents(headers: Mapping[str, str], body: bytes) -> Iterator[JSON]:
    """The same with what can be read of the last event, also where its end is missing."""
    if _is_messages(headers):
        yield from (one.data for one in lines(body))
    else:
        yield from (json_of(one.data) for one in frames(body) if one.data is not None)


def is_refusal_on_socket(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the answer is the one message by which a socket refuses a request."""
    return status >= 400 and _is_messages(headers)


def error_headers(body: bytes) -> Mapping[str, str]:
    """The headers that the error in a message has in place of those of an answer of HTTP."""
    match json_of(body):
        case {"error": {"headers": dict(headers)}}:
            return {str(name).lower(): str(value) for name, value in headers.items()}
    return {}


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    if _is_messages(headers):
        return tuple(_event(one.raw, one.data, "") for one in lines(body))
    return split_event_stream(headers, body, _framed)


def _is_messages(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "") == MESSAGES


def _framed(frame: Frame) -> WireEvent:
    return _event(frame.raw, json_of(frame.data) if frame.data is not None else None, frame.event or "")


def _event(raw: bytes, data: JSON, name: str) -> WireEvent:
    match data:
        case {"type": "response.output_text.delta" | "response.refusal.delta", "delta": str(text)}:
            return WireEvent(raw, "text", text)
        case {"type": "response.output_item.done", "item": {"type": "reasoning"}}:
            return WireEvent(raw, "signature")
        case {"type": str(kind)}:
            return WireEvent(raw, _KINDS.get(kind, "ping"))
    return WireEvent(raw, _KINDS.get(name, "ping"))
