"""One exchange on the wire, read by the dialect on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from ...dialects.base import Call, ErrorMeaning, Evidence, HttpRequest, Refusal, WireAnswer, WireEvent, World
from ...dialects.contract import Dialect
from ...dialects.unlisted_models import AnyModel
from ...messages import JSON, FinishReason, Part, Text
from ...run.transcript import RunKey, WireRequest, WireResponse
from ..finding import BrokenRule, ByteSpan, Place, Side, pointer
from .own_texts import GivenTexts
from .provenance import Provenance, neutral_path, pointer_of
from .window import SaidBefore, WindowReading

HARMLESS_FAULTS = frozenset({"split", "drip", "comment", "respelled", "merged", "compressed", "idle-close"})
"""Faults that change how bytes arrive, but not what they say."""


class Exchange:
    """A request as the server saw it, and what the server wrote back."""

    def __init__(
        self,
        dialect: Dialect,
        request: WireRequest,
        response: WireResponse | None,
        world: World,
        key: RunKey,
        round: int,
        call: Call | None = None,
        texts: GivenTexts | None = None,
        before: SaidBefore | None = None,
    ) -> None:
        """`call` is the request as it was read when it came, where the world has changed since. With `texts` it is read
        without other texts in the user's name or in its instructions, and with `before` with what the session's window
        leaves out of it."""
        self._known_texts = texts
        self._said_before = before
        self._dialect = dialect
        self._call_when_it_came = call
        self._world = world
        self._key = key
        self._round = round
        self.request = request
        self.response = response

    def at(self, side: Side = Side.REQUEST, *tokens: str | int, **fields: Any) -> Place:
        """A place in this exchange: its request's body, or with `Side.STREAM` the events of its answer.

        `tokens` are those of the pointer into the document. `fields` are further ones of `Place`.
        """
        request = self.request
        fields.setdefault("pointer", pointer(*tokens))
        return Place.of_run(
            side,
            self._key,
            turn=request.turn,
            round=self._round,
            call=request.call,
            exchange=request.exchange,
            probe=request.probe,
            **fields,
        )

    def at_header(self, name: str) -> Place:
        """A header of the request."""
        return self.at(pointer=None, header=name.lower())

    def at_read(self, *path: str | int) -> Place:
        """The place in the request's body from which the dialect read something.

        `path` is that of the neutral reading (`"messages", 3, "parts", 1, "result"`; also `system`, `tools`,
        `settings`), or such a path as dialects write it (`$.sent.messages[3].parts[1]`). What cannot be found is
        pointed to by what stands around it.
        """
        if len(path) == 1 and str(path[0]).startswith("$"):
            path = neutral_path(str(path[0]).replace("$.sent.", "$.", 1))
        if self.window is not None and path[:1] == ("messages",) and len(path) > 1:
            path = self.window.path_on_the_wire(path)
        return self.at(pointer=self._provenance.pointer_to(*path))

    def at_rule(self, refusal: Mapping[str, JSON]) -> Place:
        """The place in the request's body of which a rule speaks."""
        return self.at(pointer=pointer_of(str(refusal.get("path", "$")), self.body))

    def at_event(self, number: int, *tokens: str | int) -> Place:
        """An event of the answer, with its bytes; `tokens` lead on into what it carries (`"data", "usage"`)."""
        lengths = [len(event.data) for event in self.events]
        start = sum(lengths[:number])
        span = ByteSpan(start, start + lengths[number]) if 0 <= number < len(lengths) else None
        return self.at(Side.STREAM, number, *tokens, span=span)

    def at_part(self, part: Part) -> Place:
        """The event of the answer with which this part of it became what it is; the whole answer where none is that."""
        return self.at_event(number) if (number := self._event_of(part)) is not None else self.at(Side.STREAM)

    def at_usage(self) -> Place:
        """The event of the answer with which its usage became what it is; the whole answer where it has none."""
        usage = self.answer.usage if self.answer is not None else None
        number = None if usage is None else self._first_event(lambda read: read.usage == usage)
        return self.at_event(number) if number is not None else self.at(Side.STREAM)

    def at_error(self) -> Place:
        """The event of the answer that says what went wrong; without one, the last that the server wrote."""
        kinds = [event.kind for event in self.events]
        number = kinds.index("error") if "error" in kinds else len(kinds) - 1
        return self.at_event(number) if kinds else self.at(Side.STREAM)

    def _event_of(self, part: Part) -> int | None:
        return self._first_event(lambda read: any(type(one) is type(part) and one == part for one in read.parts))

    def _first_event(self, brings: Callable[[WireAnswer], bool]) -> int | None:
        """The first event of the answer up to which it reads as looked for."""
        if self.response is None:
            return None
        body = b""
        for number, event in enumerate(self.events):
            body += event.data
            read = self._dialect.read_response(self.response.status, self.response.headers, body)
            if brings(read):
                return number
        return None

    @cached_property
    def _provenance(self) -> Provenance:
        return Provenance(self.body, self._read_own)

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
        return self._whole(self._own_call)

    @cached_property
    def window(self) -> WindowReading | None:
        """What it has of the conversation, where the session claims a window; None of any other, and of what is no
        request of its turns."""
        call = self._own_call
        return self._said_before.reading(call) if self._said_before is not None and call is not None else None

    @cached_property
    def _own_call(self) -> Call | None:
        return self._of_given_texts(self._call_when_it_came or read_call(self._dialect, self.request, self._world))

    def read(self, body: JSON) -> Call | None:
        """What the request would say if it had this body; None where the dialect cannot read it as one."""
        return self._whole(self._read_own(body))

    def _read_own(self, body: JSON) -> Call | None:
        changed = msgspec.structs.replace(self.request, body=body)
        return self._of_given_texts(read_call(self._dialect, changed, self._world))

    def _whole(self, call: Call | None) -> Call | None:
        """The request with what the window has left out of it; None where nobody knows how that would read."""
        if call is None or self.window is None:
            return call
        messages = self.window.complete(tuple(call.messages))
        return replace(call, messages=messages) if messages is not None else None

    def _of_given_texts(self, call: Call | None) -> Call | None:
        return call if call is None or self._known_texts is None else self._known_texts.alone_in(call)

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
    def ended_before_cancel(self) -> bool:
        """Whether what ends an answer was written before the cancel. What came after it is the client's doing: it
        stayed."""
        before = self.response.written - self.response.events_after_cancel if self.response is not None else 0
        return any(event.kind == "end" for event in self.events[:before])

    @property
    def refusals(self) -> tuple[Mapping[str, JSON], ...]:
        """The rules that the request offends and the real API enforces, but for what time alone made so."""
        return tuple(one for one in self.request.findings if one.get("enforced") and not one.get("outdated"))

    @property
    def of_service(self) -> bool:
        """Whether the real service gave the answer, now or before to the same request."""
        return self.response is not None and self.response.origin in ("service", "kept")

    @property
    def served(self) -> bool:
        """Whether the real service answered with what the model said."""
        return self.of_service and self.generates and self.response is not None and self.response.status == 200

    @property
    def asked_service(self) -> bool:
        """Whether the real service was asked for this very request."""
        return self.response is not None and self.response.origin == "service"

    @property
    def denied_by_service(self) -> bool:
        """Whether the real service answered with an error, which no script asked for."""
        return self.of_service and self.fault is None and self.response is not None and self.response.status >= 400

    @property
    def malformed_by_service(self) -> bool:
        """Whether an answer of the real service has a call that never became whole, and does not say why."""
        answer = self.answer if self.of_service and self.fault is None and not self.held else None
        return answer is not None and answer.broken_calls > 0 and answer.finish is not FinishReason.MAX_TOKENS

    @property
    def outdated(self) -> bool:
        """Whether it was refused for a token that had been good before: its client can only ask for another one."""
        return any(finding.get("outdated") for finding in self.request.findings)

    @property
    def answered(self) -> bool:
        """Whether the model's answer began to arrive, whatever became of it."""
        return self.response is not None and self.response.status == 200 and self.response.written > 0

    @cached_property
    def clean(self) -> bool:
        """Whether a whole, undisturbed answer of the model went out.

        A client may leave with the event that ends the answer: whether the server has then written all that comes
        behind it is a matter of moments.
        """
        if self.response is None or self.fault is not None or self.held:
            return False
        if self.response.ended not in ("completed", "cut-by-peer"):
            return False
        answer = self.answer
        return answer is not None and answer.status == 200 and answer.complete and answer.error_kind is None


def broken_rule(refusal: Mapping[str, JSON]) -> BrokenRule:
    """A rule that a request offends, as a finding names it."""
    return BrokenRule(
        id=str(refusal.get("rule", "")),
        evidence=Evidence(refusal["evidence"]),
        message=str(refusal.get("message", "")),
        status=int(refusal.get("status") or 0),
    )


def read_call(dialect: Dialect, request: WireRequest, world: World) -> Call | None:
    """A request as the dialect reads it; None where it cannot."""
    parts = urlsplit(request.path)
    text = request.body
    raw = text.encode() if isinstance(text, str) else b"" if text is None else msgspec.json.encode(text)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    http = HttpRequest(request.method, parts.path, query, request.headers, raw, request.connection)
    parsed = dialect.parse(http, world)
    return None if isinstance(parsed, Refusal) else parsed


def world_of(dialect: Dialect, exchanges: Iterable[tuple[WireRequest, WireResponse | None]]) -> World:
    """The service as a run left it: with every managed cache that was created, and every answer that it holds where it
    holds any, so that what names one can be read.

    The server has judged what is read here already: any key will do, and time stands still.
    """
    return read_run(dialect, exchanges)[0]


def read_run(
    dialect: Dialect, exchanges: Iterable[tuple[WireRequest, WireResponse | None]]
) -> tuple[World, dict[int, Call]]:
    """The same, and each request in a conversation by the number of its exchange: it has what the conversation held
    then, and a conversation grows."""
    world = World.with_any_key(AnyModel(dialect.models))
    calls: dict[int, Call] = {}
    holding = ("generate", "stored") if "held-history" in dialect.traits else ()
    for request, response in exchanges:
        if request.operation not in ("cache", *holding):
            continue
        call = read_call(dialect, request, world)
        if call is None:
            continue
        if call.in_conversation:
            calls[request.exchange] = call
        is_kept = call.action == "create" or call.operation == "generate"
        if is_kept and response is not None and response.status == 200:
            dialect.observe(call, response.status, response.headers, response.data, world)
    return world, calls
