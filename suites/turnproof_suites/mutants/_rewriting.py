"""A proxy between adapter and server that rewrites one thing: how an adapter's wire side is broken from outside.

A subclass overrides `change_request` (the body that the server gets), `change_document` (each JSON document of an
answer that the adapter gets: the whole body, or one event's data) or `change_events` (its events as a whole). All get
the `Wire`, which knows where the dialect keeps things, so that a mutant says only what it does to them. What is not
changed keeps its bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from turnproof.dialects.base import Call, HttpRequest, Rendered, WireEvent

from ._wire import BlockKind, Json, Wire
from .wire_anthropic import AnthropicWire
from .wire_antigravity import AntigravityWire
from .wire_gemini import GeminiWire
from .wire_gemini_interactions import GeminiInteractionsWire
from .wire_openai_chat import OpenAIChatWire
from .wire_openai_responses import OpenAIResponsesWire

WIRES: tuple[Wire, ...] = (
    AnthropicWire(),
    GeminiWire(),
    GeminiInteractionsWire(),
    AntigravityWire(),
    OpenAIChatWire(),
    OpenAIResponsesWire(),
)
"""The dialects that rewriting proxies can read. A request of another one passes through, and its mutant never ran."""

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
"""What APIs call a limit of the output."""


class Rewriting:
    """Passes everything on."""

    def __init__(self) -> None:
        self._wire: Wire | None = None

    def change_request(self, wire: Wire, body: Json) -> None:
        """Change the request's body in place, in the form of `Wire.to_messages`."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        """The request instead, where what is wrong with it stands outside the body."""
        return request

    def change_document(self, wire: Wire, document: Json) -> None:
        """Change one document of an answer in place."""

    def change_events(self, wire: Wire, events: Sequence[WireEvent]) -> Sequence[WireEvent]:
        """The events of an answer instead, where what is wrong lies between them."""
        return events

    # What the server asks of a proxy

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request as the server is to see it."""
        self._wire = next((wire for wire in WIRES if wire.is_request_for(request)), None)
        if self._wire is None or not request.body:
            return request
        request = self.change_http_request(self._wire, request)
        body = self._wire.to_messages(msgspec.json.decode(request.body))
        before = msgspec.json.encode(body)
        self.change_request(self._wire, body)
        if msgspec.json.encode(body) == before:
            return request
        return replace(request, body=msgspec.json.encode(self._wire.from_messages(body)))

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """The answer as the adapter is to see it."""
        if self._wire is None:
            return rendered
        events = tuple(self._event(self._wire, event) for event in self.change_events(self._wire, rendered.events))
        unchanged = len(events) == len(rendered.events) and all(map(operator.is_, events, rendered.events))
        return rendered if unchanged else replace(rendered, events=events)

    def _event(self, wire: Wire, event: WireEvent) -> WireEvent:
        document = wire.document(event)
        if document is None:
            return event
        before = msgspec.json.encode(document)
        self.change_document(wire, document)
        if msgspec.json.encode(document) == before:
            return event
        return wire.with_document(event, document)


def every_block(wire: Wire, body: Json) -> list[Json]:
    """The blocks of all messages of a request, in order."""
    return [block for message in wire.messages(body) for block in wire.blocks(message)]


def blocks_of_kind(wire: Wire, blocks: Sequence[Json], kind: BlockKind) -> list[Json]:
    """Those of some blocks that are of a kind, in order."""
    return [block for block in blocks if wire.kind(block) == kind]


def keep_only(items: list[Any], keep: Any) -> None:
    """Drop from a list, in place, everything that `keep` does not hold for."""
    items[:] = [item for item in items if keep(item)]


def output_limits(body: Json) -> Iterator[tuple[Json, str]]:
    """Every limit of the output that a request sets, in whichever API: the object that has it, and its name there."""
    content = body.get("request", body)
    for place in (content, *(content.get(name, {}) for name in ("generationConfig", "generation_config", "options"))):
        yield from ((place, name) for name in _LIMITS if name in place)
