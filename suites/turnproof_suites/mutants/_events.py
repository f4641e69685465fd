"""JSON in the events of an answer: the same reading and writing for every dialect that streams server-sent events."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from turnproof.dialects.base import WireEvent
from turnproof.dialects.sse import frames

from ._wire import Json


def document_of(event: WireEvent) -> Json | None:
    """The JSON object that an event or a whole body carries; None where there is none."""
    data = event.data if event.kind == "body" else _data(event)
    try:
        found = msgspec.json.decode(data) if data else None
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


def named_event(event: WireEvent, document: Json) -> WireEvent:
    """The event with another object in it, whose type is its name; a whole body has none."""
    data = msgspec.json.encode(document)
    if event.kind != "body":
        data = b"event: %s\ndata: %s\n\n" % (str(document["type"]).encode(), data)
    return replace(event, data=data)


def _data(event: WireEvent) -> bytes:
    """The data of the one frame that an event is."""
    return next((frame.data.encode() for frame in frames(event.data) if frame.data is not None), b"")
