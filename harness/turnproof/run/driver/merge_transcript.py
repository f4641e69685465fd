"""Putting the two sides of a run into one list: what the adapter's side reports, and what the server saw.

The server's exchanges of a call are placed right after the call began, before the callbacks, because callbacks
follow from what was on the wire; no clock decides the order. Where a session shows no calls, an exchange is placed
where its request came: what the session shows of an answer comes after that request, and before the next one.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import pickle
import threading
import time
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import msgspec

from ..._base.canonical import canonical
from ..._base.printable import one_line
from ..._base.secrets import secret_in
from ...dialects.base import Evidence, Refusal
from ...errors import HarnessError
from ...messages import FunctionCall, Text, thaw
from ...scenarios.model import Scenario
from ...wire.emulator.server_run import CANARY_KEY, Arrived, Exchange, ServerRun
from ...wire.emulator.service_failures import REFUSALS
from ..transcript import CallBegan, Event, RunEnded, WireRequest, WireResponse
from .interning import Shared
from .key_mask import AUTH_HEADERS, KeyMask

_KEPT_HEADERS = {"content-type", "accept", "x-stainless-retry-count"}
_KEPT_ANSWER_HEADERS = {"content-type", "date", "retry-after", "request-id"}
_WITHHELD = b"[credentials]"
"""What is kept of the bodies of an exchange of credentials."""


SERVICE_RULE = "service/refused"
"""The rule that a request offends which the real service refuses: which one it is, only the service knows."""

_LONGEST_REFUSAL = 1000
"""Characters of a refusal that is in no form of the API."""

_LONGEST_ARGUMENTS = 100
"""Characters of a call's arguments in a sentence."""

_ACK = pickle.dumps(("ack", None))
"""What the run waits for, thousands of times: written once."""

_CLOSING_LIMIT = 3.0
"""Seconds in which an adapter that has shut down must have closed its connections, as seen from the server."""

_DEEPEST = 150
"""Levels of a body that is kept as JSON: a payload at its deepest, and the request around it."""


def _call_for_people(call: FunctionCall) -> str:
    """A tool call with its arguments, as far as they fit on a line."""
    arguments = one_line(json.dumps(thaw(call.args), ensure_ascii=False))
    return (
        f"{one_line(call.name)}({arguments[:_LONGEST_ARGUMENTS]}{'…' if len(arguments) > _LONGEST_ARGUMENTS else ''})"
    )


class Gathering:
    """The events of one run so far."""

    def __init__(self, server_run: ServerRun, scenario: Scenario) -> None:
        self._run = server_run
        self._scenario = scenario
        self._events: list[Event] = []
        self._moments: list[float] = []
        self._since = 0
        self._insert_at = 0
        self._operation_at = 0
        self._call = -1
        self._wire_count = 0
        self._turn = -1
        self._issued: list[bytes] = []
        self._keys = KeyMask(server_run.secrets)
        self._shared = Shared()
        self._began = time.monotonic()
        self._calls: dict[tuple[str, int], _Times] = {}
        self._called = ("", -1)
        self._lock = threading.Lock()
        self._connections_left: int | None = None

    def attach(self, conn: Connection) -> None:
        """Connect the server's holds to the run's end of the line."""
        lock = self._lock

        def hold(arrived: Arrived) -> None:
            condition = dataclasses.replace(arrived, earlier=self._text_before())
            with lock:
                conn.send(("cancel", condition))

        self._conn = conn
        self._run.on_hold = hold

    def note(self, events: Sequence[Event], moments: Sequence[float]) -> None:
        """Events of the run, in order, with their moments by the monotonic clock, which all processes share."""
        self._events.extend(map(self._shared.event, events))
        self._moments.extend(moments)

    def add_message(self, kind: str, payload: Any) -> None:
        """One message of the run."""
        answer: object = None
        match kind:
            case "arm":
                self._turn = payload
                self._run.arm(payload, self._scenario.turns[payload], self._scenario.tools_in(payload))
            case "operation-begins":
                self._run.begin_call()
                self._call = -1
                self._operation_at, self._moments = len(self._events), []
            case "operation-ended":
                self._take_unclaimed()
            case "call-begins":
                # What was asked since the last call belongs to none: a managed cache made in between, say. A client may
                # have its answer before the server has noted that it wrote it, so the server is waited for here, too.
                self._call = -1
                self._events.extend(self._wire(call_exchanges := self._run.end_call(self._wire_count)))
                self._run.begin_call()
                self._since = self._wire_count = self._wire_count + len(call_exchanges)
                self._call = payload[0]
                self._insert_at = len(self._events)
                self._called = payload[1], payload[0]
                self._calls[self._called] = _Times(self._elapsed())
            case "call-ended":
                if self._called in self._calls:
                    self._calls[self._called] = self._calls[self._called]._replace(until=self._elapsed())
                exchanges = self._run.end_call(self._since)
                self._wire_count = self._since + len(exchanges)
                self._events[self._insert_at : self._insert_at] = self._wire(exchanges)
            case "child-begins":
                self._run.child_begins(payload[0], waits=payload[1])
            case "child-has-asked":
                answer = self._run.children[payload].requested.is_set()
            case "child-may-be-answered":
                self._run.children[payload].answered.set()
            case "child-is-over":
                self._run.child_is_over(payload)
            case "children-are-over":
                self._call = -1
                wire = self._wire(self._run.child_exchanges())
                self._events.extend(wire)
                self._moments.extend(time.monotonic() for _ in wire)
            case "probe":
                self._run.begin_probe(payload)
            case "shut-down":
                self._connections_left = self._run.open_connections(_CLOSING_LIMIT)
            case _:
                raise HarnessError(f"the run sent {kind!r}, which nobody knows")
        with self._lock:
            self._conn.send_bytes(_ACK if answer is None else pickle.dumps(("ack", answer)))

    def waits_for_service(self, limit: float) -> bool:
        """Whether the real service has yet to answer, or has sent something within so many seconds: whoever is silent
        then does not hang."""
        return self._run.awaited > 0 or time.monotonic() - self._run.last_data_at < limit

    def place(self) -> str:
        """Where the run is, for people."""
        turn = f"in turn {self._turn}" if self._turn >= 0 else "before the first turn"
        return turn + (f", provider call {self._call}" if self._call >= 0 else "")

    def calls_without_results(self) -> str:
        """The tool calls of the last answer, which no request has brought results of, for people; empty where it has
        none. Its tools may not have returned, or the session waits behind them for something else."""
        exchanges = self._run.one_by_one
        if not exchanges or exchanges[-1].ended != "completed" or exchanges[-1].turn != self._turn:
            return ""
        last = exchanges[-1]
        answer = self._run.dialect.read_response(last.status, last.headers, bytes(last.body))
        calls = [_call_for_people(part) for part in answer.parts if isinstance(part, FunctionCall)]
        return f"; no request has a result of {' and '.join(calls)}" if calls else ""

    def finish(self, end: RunEnded) -> tuple[Event, ...]:
        """All events, with exchanges that belong to no call (or to one that never returned) and leaks."""
        rest = [*self._run.one_by_one[self._wire_count :], *self._untold_children()]
        if rest:
            self._run.call_returned.set()
            self._events.extend(self._wire(rest))
        events = self._keys.events([self._timed(event) for event in self._events])
        return (*events, self._keys.end(msgspec.structs.replace(end, connections_left=self._connections_left)))

    def _untold_children(self) -> list[Exchange]:
        """The exchanges of children in a turn that came to no end."""
        known_exchanges = {event.exchange for event in self._events if isinstance(event, WireRequest)}
        return [exchange for exchange in self._run.child_exchanges() if exchange.number not in known_exchanges]

    def _elapsed(self) -> float:
        """Milliseconds since the run began."""
        return self._since_began(time.monotonic())

    def _since_began(self, moment: float) -> float:
        return round((moment - self._began) * 1000, 1)

    def _timed(self, event: Event) -> Event:
        """A call with the time that it took; anything else as it is."""
        if not isinstance(event, CallBegan) or (times := self._calls.get((event.probe, event.call))) is None:
            return event
        return msgspec.structs.replace(event, at_ms=times.at, ms=times.length)

    def _take_unclaimed(self) -> None:
        """What was asked in the operation that is over and belongs to no call, or to none that was shown."""
        in_call, self._call = self._call >= 0, -1
        exchanges = self._run.end_call(self._wire_count)
        self._wire_count += len(exchanges)
        if in_call:
            self._events.extend(self._wire(exchanges))
            return
        for exchange in exchanges:
            since = sum(moment < exchange.began for moment in self._moments)
            at = self._operation_at + since
            self._events[at:at] = wire = self._wire([exchange])
            self._moments[since:since] = [exchange.began for _ in wire]

    def _text_before(self) -> int:
        """Characters of text in the answers of this turn that had been written whole, ahead of the one on its way."""
        read = self._run.dialect.read_response
        ended = [one for one in self._run.one_by_one if one.turn == self._turn and one.ended == "completed"]
        answers = [read(one.status, one.headers, bytes(one.body)) for one in ended]
        return sum(len(part.text) for answer in answers for part in answer.parts if isinstance(part, Text))

    def _wire(self, exchanges: list[Exchange]) -> list[Event]:
        out: list[Event] = []
        for exchange in exchanges:
            out += [self._request(exchange), self._response(exchange)]
        return out

    def _request(self, exchange: Exchange) -> WireRequest:
        request = exchange.request
        service = self._run.dialect.service
        self._keys.look_at_headers(request.headers, exchange.turn)
        names = sorted(_KEPT_HEADERS | service.request_headers)
        headers = {name: request.headers[name] for name in names if name in request.headers}
        for name in AUTH_HEADERS:
            if name in request.headers:
                headers[name] = self._credential(request.headers[name])
        # Who asks is settled by credentials, which evidence has no use for.
        sent = _WITHHELD if exchange.operation == "authenticate" else request.body
        body = self._shared.json(_json_or_text(sent))
        return WireRequest(
            exchange=exchange.number,
            method=request.method,
            path=request.path + ("?" + "&".join(f"{k}={v}" for k, v in request.query.items()) if request.query else ""),
            headers=headers,
            body=body,
            digest=hashlib.blake2b(sent, digest_size=16).hexdigest(),
            raw=self._shared.text(_raw(sent, body)),
            operation=exchange.operation,
            extra=exchange.extra,
            findings=self._findings(exchange),
            at_ms=self._since_began(exchange.began),
            connection=exchange.connection,
            child=exchange.child,
            **self._place_of(exchange),
        )

    def _findings(self, exchange: Exchange) -> tuple[dict[str, Any], ...]:
        """What speaks against the request. Of the real service that is its own answer, and our rules are opinions."""
        if self._run.judges:
            return tuple(_finding(finding) for finding in exchange.findings)
        opinions = tuple({**_finding(finding), "enforced": False} for finding in exchange.findings)
        if exchange.origin and exchange.operation == "generate" and exchange.answered in REFUSALS:
            return (*opinions, self._refused(exchange))
        return opinions

    def _refused(self, exchange: Exchange) -> dict[str, Any]:
        answer = b"".join(event.data for event in exchange.events)
        read = self._run.dialect.read_response(exchange.answered, exchange.headers, answer)
        return {
            "rule": SERVICE_RULE,
            "evidence": Evidence.RECORDED.value,
            "status": exchange.answered,
            "kind": read.error_kind or "",
            "message": read.error_message or answer.decode(errors="replace")[:_LONGEST_REFUSAL],
            "path": "$",
            "enforced": True,
        }

    def _credential(self, value: str) -> str:
        """Whose a credential is: the adapter's key, one that the service issued to it in this run, or another one."""
        if secret_in(value, (CANARY_KEY,)):
            return "[key]"
        token = value.rpartition(" ")[2].encode()
        return "[issued]" if token and any(token in answer for answer in self._issued) else "[other]"

    def _response(self, exchange: Exchange) -> WireResponse:
        if exchange.operation == "authenticate" and exchange.status == 200:
            self._issued.append(bytes(exchange.body))
        withheld = exchange.operation == "authenticate"
        body = self._text(_WITHHELD if withheld else bytes(exchange.body), exchange)
        as_sent = None if withheld or exchange.sent == exchange.body else self._text(bytes(exchange.sent), exchange)
        header_names = _KEPT_ANSWER_HEADERS | self._run.dialect.service.response_headers
        return WireResponse(
            exchange=exchange.number,
            status=exchange.status,
            headers={k: v for k, v in exchange.headers.items() if k.lower() in header_names},
            body=body.text,
            base64=body.base64,
            sent=None if as_sent is None else as_sent.text,
            sent_base64=as_sent is not None and as_sent.base64,
            spelling=exchange.spelling,
            written=exchange.written,
            ended=exchange.ended,
            fault=exchange.fault,
            held=exchange.held,
            released=exchange.released,
            events_after_cancel=exchange.events_after_cancel,
            prompt_tokens=exchange.prompt_tokens,
            origin=exchange.origin,
            kept=exchange.stored,
            asked=dict(exchange.asked),
            settled={} if withheld else _settled(exchange, body, as_sent),
            ms=None if exchange.over is None else round((exchange.over - exchange.began) * 1000, 1),
            **self._place_of(exchange),
        )

    def _text(self, data: bytes, exchange: Exchange) -> _Text:
        """Bytes as evidence keeps them: text, or base64 of what is none. In that a key would be found by nobody."""
        try:
            return _Text(data.decode())
        except UnicodeDecodeError:
            data = self._keys.binary(data, f"{WireResponse.__name__} in turn {exchange.turn}")
            return _Text(base64.b64encode(data).decode(), base64=True)

    def _place_of(self, exchange: Exchange) -> dict[str, Any]:
        return {"turn": exchange.turn if not exchange.probe else -1, "call": self._call, "probe": exchange.probe}


class _Times(NamedTuple):
    """When a call began and until when it went on, in milliseconds since the run began."""

    at: float
    until: float | None = None

    @property
    def length(self) -> float | None:
        return None if self.until is None else round(self.until - self.at, 1)


class _Text(NamedTuple):
    """Bytes as they are kept."""

    text: str
    base64: bool = False

    def length(self, size: int) -> int:
        """How many characters stand for the first bytes, so many of them; of base64 those that stand for them alone."""
        return size // 3 * 4 if self.base64 else len(self.text.encode()[:size].decode(errors="ignore"))


def _settled(exchange: Exchange, body: _Text, wire_body: _Text | None) -> dict[str, int]:
    """How far the answer counts: to where the server last waited, if more was written and its client could close."""
    until = exchange.settled
    went_on = exchange.ended == "cut-by-peer" or exchange.released in ("call-returned", "limit")
    if not went_on or until == exchange.progress:
        return {}
    settled = {"body": body.length(until.body), "written": until.written, "ended": 0}
    if wire_body is not None:
        settled["sent"] = wire_body.length(until.sent)
    if exchange.events_after_cancel:
        settled["events_after_cancel"] = 1  # that there were any is no matter of moments
    return settled


def _json_or_text(body: bytes) -> Any:
    if not body:
        return None
    try:
        value = msgspec.json.decode(body)
        if not _is_deep(value):
            return value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return body.decode(errors="replace")


def _is_deep(value: Any) -> bool:
    """Whether a body is nested so deeply that whoever walks through it may fall over."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [item for each in level for item in _items(each) if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _raw(wire_body: bytes, body: Any) -> str:
    """The body's text, if `body` alone would not give it back: evidence keeps JSON with its keys sorted."""
    again = b"" if body is None else body.encode() if isinstance(body, str) else canonical(body)
    return "" if again == wire_body else wire_body.decode("utf-8", "replace")


def _finding(refusal: Refusal) -> dict[str, Any]:
    return {
        "rule": refusal.rule.id,
        "evidence": refusal.rule.evidence.value,
        "status": refusal.status,
        "kind": refusal.kind,
        "message": refusal.message,
        "path": refusal.path,
        "enforced": refusal.enforced,
        **({"outdated": True} if refusal.outdated else {}),
    }
