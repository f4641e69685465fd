"""The document that the place of a finding points into, taken from the run that it is a place of."""

from __future__ import annotations

import msgspec

from ...messages import JSON
from ...run.transcript import CallBegan, Event, Failed, Response, SpanMade
from ..finding import Place, Side
from .documents import CALLBACKS, event_document, history_document, process_events, stream_document
from .run import View


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
            return next((event_document(one) for one in _of_call(view, place) if isinstance(one, Response)), None)
        case Side.CALLBACK:
            return [msgspec.to_builtins(one) for one in _of_call(view, place) if isinstance(one, CALLBACKS)]
        case Side.HISTORY if place.call >= 0:
            began = next((one for one in _of_call(view, place) if isinstance(one, CallBegan)), None)
            return None if began is None else event_document(began)
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


def _of_call(view: View, place: Place) -> list[Event]:
    return [one for one in view.transcript.events if one.call == place.call and one.probe == place.probe]


def _of_turn(view: View, place: Place) -> list[Event]:
    return [one for one in view.transcript.events if one.turn == place.turn and one.probe == place.probe]
