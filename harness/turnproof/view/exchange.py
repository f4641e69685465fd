"""One exchange on the wire, read by the dialect on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

import msgspec

from ..dialects.base import Call, Dialect, ErrorMeaning, HttpRequest, Refusal, WireAnswer, WireEvent, World
from ..messages import JSON, Text
from ..transcript import WireRequest, WireResponse

HARMLESS_FAULTS = frozenset({"split", "drip", "comment", "respelled"})
"""Faults that change how bytes arrive, but not what they say."""


class Exchange:
    """A request as the server saw it, and what the server wrote back."""

    def __init__(self, dialect: Dialect, request: WireRequest, response: WireResponse | None, world: World) -> None:
        self._dialect = dialect
        self._world = world
        self.request = request
        self.response = response

    @property
    def number(self) -> int:
        """The server's count of exchanges within the run."""
        return self.request.exchange

    @property
    def generates(self) -> bool:
        """Whether it asks for an answer of the model (token counts and model lists do not)."""
        return self.request.operation == "generate"

    @property
    def body(self) -> JSON:
        """The request's JSON body."""
        return self.request.body

    @cached_property
    def call(self) -> Call | None:
        """The request in neutral form; None where the dialect cannot read it as one."""
        return read_call(self._dialect, self.request, self._world)

    def read(self, body: JSON) -> Call | None:
        """What the request would say if it had this body; None where the dialect cannot read it as one."""
        return read_call(self._dialect, msgspec.structs.replace(self.request, body=body), self._world)

    @cached_property
    def answer(self) -> WireAnswer | None:
        """What the server wrote, in neutral form; None when it wrote no status."""
        if self.response is None or self.response.status == 0:
            return None
        return self._dialect.read_response(self.response.status, self.response.headers, self.response.data)

    @cached_property
    def error_meaning(self) -> ErrorMeaning | None:
        """What an error answer means where its status does not tell; None for any other answer."""
        if self.answer is None or self.answer.status < 400:
            return None
        return self._dialect.error_meaning(self.answer.status, self.answer.error_kind, self.answer.error_message)

    @cached_property
    def events(self) -> tuple[WireEvent, ...]:
        """What the server wrote, event by event; a batch answer is one."""
        if self.response is None or self.response.status == 0:
            return ()
        return self._dialect.split_stream(self.response.headers, self.response.data)

    @property
    def text(self) -> str:
        """All visible text that the server wrote, whether or not the answer became complete."""
        if len(self.events) == 1 and self.answer is not None:
            return "".join(part.text for part in self.answer.parts if isinstance(part, Text))
        return "".join(event.text for event in self.events)

    @property
    def fault(self) -> str | None:
        """The fault that kept the answer from arriving as the model gave it, or None."""
        fault = self.response.fault if self.response is not None else None
        return None if fault in HARMLESS_FAULTS else fault

    @property
    def disturbed(self) -> bool:
        """Whether a harmless fault changed how the bytes arrived."""
        return self.response is not None and self.response.fault in HARMLESS_FAULTS

    @property
    def held(self) -> bool:
        """Whether the server held the answer back for a cancel."""
        return self.response is not None and self.response.held

    @property
    def refusals(self) -> tuple[Mapping[str, JSON], ...]:
        """The rules that the request offends and the real API enforces."""
        return tuple(finding for finding in self.request.findings if finding.get("enforced"))

    @cached_property
    def clean(self) -> bool:
        """Whether a whole, undisturbed answer of the model went out to the end."""
        if self.response is None or self.fault is not None or self.held or self.response.ended != "completed":
            return False
        answer = self.answer
        return answer is not None and answer.status == 200 and answer.complete and answer.error_kind is None


def read_call(dialect: Dialect, request: WireRequest, world: World) -> Call | None:
    """A request as the dialect reads it; None where it cannot."""
    parts = urlsplit(request.path)
    text = request.body
    raw = text.encode() if isinstance(text, str) else b"" if text is None else msgspec.json.encode(text)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    parsed = dialect.parse(HttpRequest(request.method, parts.path, query, request.headers, raw), world)
    return None if isinstance(parsed, Refusal) else parsed


def world_of(dialect: Dialect, exchanges: Iterable[tuple[WireRequest, WireResponse | None]]) -> World:
    """The service as a run left it: with every managed cache that was created, and every answer that it holds where it
    holds any, so that what names one can be read.

    The server has judged what is read here already: any key will do, and time stands still.
    """
    world = World(keys=frozenset(), models=dialect.models, clock=lambda: 0.0, any_key=True)
    holding = "generate" if "held-history" in dialect.traits else "cache"
    for request, response in exchanges:
        if request.operation in ("cache", holding) and response is not None and response.status == 200:
            call = read_call(dialect, request, world)
            if call is not None and (call.action == "create" or call.operation == "generate"):
                dialect.observe(call, response.status, response.headers, response.data, world)
    return world
