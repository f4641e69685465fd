"""The documents that the places of findings point into, made from a run (see the table in `finding`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import msgspec

from ...dialects.base import WireEvent
from ...dialects.sse import frames
from ...messages import JSON, Message
from ...run import transcript as t

CALLBACKS = (t.Chunk, t.Thinking, t.FunctionCallDetected, t.UsageUpdate)
_ELSEWHERE = (
    t.CallBegan,
    t.Response,
    t.WireRequest,
    t.WireResponse,
    t.Failed,
    t.HistorySnapshot,
    t.SpanMade,
    *CALLBACKS,
)


def event_document(event: t.Event) -> JSON:
    """What the places of an event point into: the event itself, save for messages and responses."""
    match event:
        case t.Response():
            return _response(event)
        case t.CallBegan() | t.HistorySnapshot():
            return _messages(event.messages)
    return msgspec.to_builtins(event)


def history_document(events: Iterable[t.Event]) -> JSON:
    """What session and provider held, each as it stood last among these events.

    `operations` has what the session held after each operation, by the word that scenarios have for it.
    """
    histories: dict[str, JSON] = {}
    for event in events:
        if isinstance(event, t.HistorySnapshot):
            histories[event.owner] = _messages(event.messages)
            if event.owner == "session" and event.after != "turn":
                histories.setdefault("operations", {})[event.after] = histories[event.owner]
    return histories


def process_events(events: Iterable[t.Event]) -> list[t.Event]:
    """The events that no other side shows."""
    return [event for event in events if not isinstance(event, _ELSEWHERE) or is_stray(event)]


def is_stray(event: t.Event) -> bool:
    """Whether the adapter failed outside of any call: neither a call nor a turn raised that."""
    return isinstance(event, t.Failed) and event.scope == "call" and event.call < 0


def stream_document(events: Sequence[WireEvent]) -> JSON:
    """Each event with its kind and what it carries: JSON where it is some, otherwise its text."""
    return [{"kind": event.kind, "data": _event_data(event.data)} for event in events]


def _event_data(data: bytes) -> JSON:
    text = data.decode("utf-8", "replace")
    pieces = [frame.data for frame in frames(data) if frame.data is not None]
    for candidate in (*pieces[:1], text):
        try:
            return json.loads(candidate)
        except ValueError:
            continue
    return pieces[0] if pieces else text


def _messages(messages: Sequence[Message]) -> JSON:
    return msgspec.to_builtins(messages)


def _response(event: t.Response) -> JSON:
    return msgspec.to_builtins(msgspec.structs.replace(event.response, raw=None))
