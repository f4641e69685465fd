"""The emulator without a socket, for clients whose transport is replaced in a unit test.

It decides everything that the HTTP server decides: what is refused, what is answered, and in which pieces. A fault of
the connection becomes a `BrokenConnection`, which the transport raises as an exception of the client.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Coroutine, Generator, Iterator, Mapping
from typing import Literal, TypeAlias, TypeVar

from ...dialects.base import HttpRequest, Rendered
from ...errors import HarnessError, UsageError
from ...scenarios import Scenario
from ...scenarios.model import Fault
from .answer_writer import BEFORE_ALL, NOWHERE, is_streamed, locate, pieces, spelled
from .answers import answer_exchange
from .incoming import Incoming
from .server_run import Exchange, ServerRun

_ResultT = TypeVar("_ResultT")

Break: TypeAlias = Literal["reset", "incomplete", "silence"]
"""How a connection ends too early: it is reset, it is closed before the body is complete, or nothing comes any more."""


class BrokenConnection(Exception):
    """The connection has failed. `how` says what a client sees of it."""

    def __init__(self, kind: Break) -> None:
        super().__init__(kind)
        self.how = kind


Ending: TypeAlias = Literal["completed", "cut-by-us", "cut-by-peer"]

_ENDED_BY: Mapping[Break, Ending] = {"reset": "cut-by-us", "incomplete": "cut-by-us", "silence": "cut-by-peer"}
"""Who ends a connection that breaks: a client leaves when nothing comes within its time limit."""


def check_needs_no_socket(scenario: Scenario) -> None:
    """Raise UsageError for a scenario that waits for a cancel in the middle of an answer."""
    for number, turn in enumerate(scenario.turns):
        cut = turn.cut
        if cut is not None and cut.at in ("event", "batch"):
            raise UsageError(
                f"{scenario.name}, turn {number}: the answer waits for a cancel (`at: {cut.at}`). That needs a "
                "socket, as a cancel has to wake a read that is blocked. Use `turnproof_endpoint` for this scenario"
            )


class InProcessAnswer:
    """An answer on its way to the client: `status` and `headers`, then the chunks of the body by iteration.

    Iteration raises BrokenConnection where the connection fails. `close()` ends an answer that is not read to its end.
    """

    def __init__(self, run: ServerRun, exchange: Exchange, rendered: Rendered, fault: Fault | None) -> None:
        self._run, self._exchange, self._rendered, self._fault = run, exchange, rendered, fault
        self._has_body = exchange.request.method != "HEAD" and rendered.status not in (204, 304)
        self._chunks = self._read()
        self.status = rendered.status
        length = {} if is_streamed(rendered) else {"content-length": str(len(rendered.events[0].data))}
        self.headers: Mapping[str, str] = {**rendered.headers, **length}

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks

    def close(self) -> None:
        """The client has closed the answer. Harmless after its end."""
        self._chunks.close()
        self._finish("cut-by-peer")

    def _read(self) -> Generator[bytes, None, None]:
        try:
            for chunk in self._events():
                if chunk and self._has_body:
                    self._exchange.sent += chunk
                    yield chunk
        except BrokenConnection as broken:
            self._finish(_ENDED_BY[broken.how])
            raise
        self._finish("completed")

    def _events(self) -> Iterator[bytes]:
        """All events in pieces, as `Writer` puts them on a socket."""
        exchange, rendered, fault, dialect = self._exchange, self._rendered, self._fault, self._run.dialect
        fault_at = locate(dialect, rendered, fault.index, fault.after) if fault is not None else NOWHERE
        data = spelled(dialect, rendered, fault, exchange)
        if fault is not None and fault_at == BEFORE_ALL:
            yield from self._after(fault)
        for position, event in enumerate(rendered.events):
            is_here = position == fault_at
            if fault is not None and fault.kind == "truncate" and is_here:
                half = event.data[: max(1, len(event.data) // 2)]
                exchange.body += half
                yield half
                raise BrokenConnection("incomplete")
            if fault is None or fault.kind != "no-end" or event.kind != "end":
                yield from pieces(dialect, rendered, data[position], fault)
                exchange.body += event.data
            exchange.written += 1
            if fault is not None and is_here:
                yield from self._after(fault)
                if fault.kind in ("no-end", "error-event"):
                    break
        if fault is not None and fault.kind == "no-end":
            self._finish("cut-by-us")

    def _after(self, fault: Fault) -> Iterator[bytes]:
        """What the fault does behind its event."""
        dialect = self._run.dialect
        match fault.kind:
            case "reset":
                raise BrokenConnection("reset")
            case "stall":
                raise BrokenConnection("silence")
            case "truncate":  # behind the head, where there is no event to be cut
                raise BrokenConnection("incomplete")
            case "garbage":
                yield from self._extra(dialect.garbage)
            case "error-event":
                kind, message = dialect.error_kind(fault.status or 529)
                yield from self._extra(dialect.error_event(kind, message, self._rendered.headers).data)
                self._finish("cut-by-us")
            case _:
                pass

    def _finish(self, ending: Ending) -> None:
        _finish(self._run, self._exchange, ending)

    def _extra(self, data: bytes) -> Iterator[bytes]:
        """Bytes that are no event of the answer. A body whose length is known has no room for them."""
        if is_streamed(self._rendered):
            self._exchange.body += data
            yield data


class InProcessRun:
    """Answers the requests of one run, in the thread of whoever asks. Thread-safe."""

    def __init__(self, run: ServerRun) -> None:
        self._run = run
        self._lock = threading.Lock()

    def answer(self, request: HttpRequest) -> InProcessAnswer:
        """The answer to a request. Raises BrokenConnection where not even its head arrives."""
        run = self._run
        with self._lock:
            exchange = Exchange(len(run.exchanges), request, turn=run.turn_index)
            run.exchanges.append(exchange)
            answer = _result(answer_exchange(run, exchange))
        fault, rendered = answer.fault, answer.rendered
        if isinstance(rendered, Incoming):
            raise HarnessError("the real service is asked through the HTTP front alone")
        exchange.status, exchange.headers = rendered.status, dict(rendered.headers)
        if fault is not None and exchange.fault is None:
            exchange.fault = fault.kind
        if fault is not None and fault.index < 0 and fault.after is None:
            if fault.kind in ("reset", "refuse-connection"):
                _finish(run, exchange, _ENDED_BY["reset"])
                raise BrokenConnection("reset")
            if fault.kind == "stall":
                _finish(run, exchange, _ENDED_BY["silence"])
                raise BrokenConnection("silence")
        return InProcessAnswer(run, exchange, rendered, fault)


def _finish(run: ServerRun, exchange: Exchange, ending: Ending) -> None:
    """Note how the exchange has ended. What was noted first stays."""
    if exchange.done.is_set():
        return
    exchange.ended, exchange.over = ending, time.monotonic()
    exchange.done.set()
    if run.on_exchange is not None:
        run.on_exchange(exchange)


def _result(coroutine: Coroutine[object, None, _ResultT]) -> _ResultT:
    """What a coroutine returns that waits for nothing, whether or not this thread runs an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: _ResultT = stop.value
        return result
    coroutine.close()
    raise HarnessError("the answer waits for something outside of the process")
