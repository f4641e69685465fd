"""A proxy between adapter and server that rewrites one thing: how an adapter's wire side is broken from outside.

A subclass overrides `request` (the body that the server gets) or `answer` (each JSON document of an answer that the
adapter gets: the whole body, or one event's data). Both are given the `Wire`, which knows where the dialect keeps
things, so that a mutant says only what it does to them. What is not changed keeps its bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from turnproof.dialects.base import Call, HttpRequest, Rendered, WireEvent

from ._wire import Json, Wire
from .wire_anthropic import AnthropicWire
from .wire_gemini import GeminiWire

WIRES: tuple[Wire, ...] = (AnthropicWire(), GeminiWire())
"""The dialects that rewriting proxies can read. A request of another one passes through, and its mutant never ran."""


class Rewriting:
    """Passes everything on."""

    def __init__(self) -> None:
        self._wire: Wire | None = None

    def sent(self, wire: Wire, body: Json) -> None:
        """Change the request's body in place."""

    def addressed(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        """The request instead, where what is wrong with it stands outside the body."""
        return request

    def answered(self, wire: Wire, document: Json) -> None:
        """Change one document of an answer in place."""

    # What the server asks of a proxy

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request as the server is to see it."""
        self._wire = next((wire for wire in WIRES if wire.speaks(request)), None)
        if self._wire is None or not request.body:
            return request
        request = self.addressed(self._wire, request)
        body = msgspec.json.decode(request.body)
        before = msgspec.json.encode(body)
        self.sent(self._wire, body)
        after = msgspec.json.encode(body)
        return request if after == before else replace(request, body=after)

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """The answer as the adapter is to see it."""
        if self._wire is None:
            return rendered
        events = tuple(self._event(self._wire, event) for event in rendered.events)
        unchanged = all(a is b for a, b in zip(events, rendered.events, strict=True))
        return rendered if unchanged else replace(rendered, events=events)

    def _event(self, wire: Wire, event: WireEvent) -> WireEvent:
        document = wire.document(event)
        if document is None:
            return event
        before = msgspec.json.encode(document)
        self.answered(wire, document)
        if msgspec.json.encode(document) == before:
            return event
        return wire.with_document(event, document)


def only(items: list[Any], keep: Any) -> None:
    """Drop from a list, in place, everything that `keep` does not hold for."""
    items[:] = [item for item in items if keep(item)]
