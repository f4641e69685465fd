"""The documents that the places of findings point into, made from a run (see the table in `finding`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ..dialects.base import WireEvent
from ..dialects.sse import frames
from ..finding import Place, Side
from ..messages import JSON, Message
from ..transcript import (
    CallBegan,
    Chunk,
    Event,
    Failed,
    FunctionCallDetected,
    HistorySnapshot,
    Response,
    SpanMade,
    Thinking,
    UsageUpdate,
    WireRequest,
    WireResponse,
)

if TYPE_CHECKING:
    from .run import View

CALLBACKS = (Chunk, Thinking, FunctionCallDetected, UsageUpdate)
_ELSEWHERE = (CallBegan, Response, WireRequest, WireResponse, Failed, HistorySnapshot, SpanMade, *CALLBACKS)


def document_of(view: View, place: Place) -> JSON:
    """The document that a place points into; None where the run has none, as for a place of another run."""
    match place.side:
        case Side.REQUEST:
            found = next((one for one in view.exchanges if one.number == place.exchange), None)
            return None if found is None else found.body
        case Side.STREAM:
            found = next((one for one in view.exchanges if one.number == place.exchange), None)
            return None if found is None else stream_document(found.events)
        case Side.RESPONSE:
            return next((_response(one) for one in _of_call(view, place) if isinstance(one, Response)), None)
        case Side.CALLBACK:
            return [msgspec.to_builtins(one) for one in _of_call(view, place) if isinstance(one, CALLBACKS)]
        case Side.HISTORY if place.call >= 0:
            began = next((one for one in _of_call(view, place) if isinstance(one, CallBegan)), None)
            return None if began is None else _messages(began.messages)
        case Side.HISTORY:
            return history_document(_of_turn(view, place))
        case Side.ERROR:
            events = _of_call(view, place) if place.call >= 0 else _of_turn(view, place)
            scope = "call" if place.call >= 0 else "turn"
            found_error = (one for one in events if isinstance(one, Failed) and one.scope == scope)
            return next(map(msgspec.to_builtins, found_error), None)
        case Side.SPAN:
            return [msgspec.to_builtins(one) for one in view.transcript.of(SpanMade)]
        case Side.PROCESS:
            return [msgspec.to_builtins(one) for one in process_events(_of_turn(view, place))]


def event_document(event: Event) -> JSON:
    """What the places of an event point into: the event itself, save for messages and responses."""
    match event:
        case Response():
            return _response(event)
        case CallBegan() | HistorySnapshot():
            return _messages(event.messages)
    return msgspec.to_builtins(event)


def history_document(events: Iterable[Event]) -> JSON:
    """What session and provider held, each as it stood last among these events.

    `operations` has what the session held after each operation, by the word that scenarios have for it.
    """
    held: dict[str, JSON] = {}
    for event in events:
        if isinstance(event, HistorySnapshot):
            held[event.owner] = _messages(event.messages)
            if event.owner == "session" and event.after != "turn":
                held.setdefault("operations", {})[event.after] = held[event.owner]
    return held


def process_events(events: Iterable[Event]) -> list[Event]:
    """The events that no other side shows."""
    return [event for event in events if not isinstance(event, _ELSEWHERE) or is_stray(event)]


def is_stray(event: Event) -> bool:
    """Whether the adapter failed outside of any call: neither a call nor a turn raised that."""
    return isinstance(event, Failed) and event.scope == "call" and event.call < 0


def stream_document(events: Sequence[WireEvent]) -> JSON:
    """Each event with its kind and what it carries: JSON where it is some, otherwise its text."""
    return [{"kind": event.kind, "data": _carried(event.data)} for event in events]


def _carried(data: bytes) -> JSON:
    text = data.decode("utf-8", "replace")
    pieces = [frame.data for frame in frames(data) if frame.data is not None]
    for candidate in (*pieces[:1], text):
        try:
            return json.loads(candidate)
        except ValueError:
            continue
    return pieces[0] if pieces else text


def _of_call(view: View, place: Place) -> list[Event]:
    return [one for one in view.transcript.events if one.call == place.call and one.probe == place.probe]


def _of_turn(view: View, place: Place) -> list[Event]:
    return [one for one in view.transcript.events if one.turn == place.turn and one.probe == place.probe]


def _messages(messages: Sequence[Message]) -> JSON:
    return msgspec.to_builtins(messages)


def _response(event: Response) -> JSON:
    return msgspec.to_builtins(msgspec.structs.replace(event.response, raw=None))
