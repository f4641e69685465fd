"""How an answer of the real service goes on to the client while it comes, and how the service is left with the client.

A cut of the scenario holds the real stream: what the service has sent by then has been written, and the rest waits in
the service's own connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import TypeVar

from aiohttp import web

from ...dialects.base import Rendered, WireEvent
from ...errors import ServiceError
from ...scenarios.model import Cut, Fault
from .answer_writer import BEFORE_ALL, Writer, locate, whole_calls
from .incoming import Incoming, comes_in_pieces
from .server_run import Exchange, ServerRun

_LOOK = 0.02
"""Seconds between two looks whether the client is still there, while the service is waited for."""

T = TypeVar("T")


class PassingWriter(Writer):
    """Writes the service's answer of one exchange as it comes; leaves the service in any case."""

    def __init__(self, request: web.Request, run: ServerRun, exchange: Exchange, incoming: Incoming) -> None:
        super().__init__(request, run, exchange, Rendered(0, {}, ()))
        self._incoming = incoming

    async def write(self, fault: Fault | None, cut: Cut | None) -> web.StreamResponse:
        """Write the answer. Raises ServiceError where the service fails before or within it."""
        try:
            return await self._pass_on(cut)
        except ConnectionError:
            self._exchange.ended = "cut-by-peer"
            return self._response or web.Response(status=500)
        finally:
            await self._incoming.close()

    async def _pass_on(self, cut: Cut | None) -> web.StreamResponse:
        head = asyncio.ensure_future(self._incoming.head())
        try:
            if cut is not None and cut.at == "batch":
                await self._hold()
            status, headers = await while_connected(self._request, self._run, head)
        finally:
            await _end(head)
        if not comes_in_pieces(headers):
            rendered = await while_connected(self._request, self._run, self._incoming.whole())
            self._exchange.answered, self._exchange.events = rendered.status, rendered.events
            return await Writer(self._request, self._run, self._exchange, rendered).write(None, None)
        self._rendered = Rendered(status, headers, ())
        self._exchange.status, self._exchange.headers = status, dict(headers)
        self._exchange.answered = status
        await self._headers()
        await self._stream(cut if cut is not None and cut.at in ("event", "child") else None)
        return self._response or web.Response(status=500)

    async def _stream(self, cut: Cut | None) -> None:
        place = _Place(self._run, self._rendered, cut)
        passed_on: list[WireEvent] = []
        self._exchange.events = passed_on
        batches = self._incoming.batches()
        while (batch := await while_connected(self._request, self._run, _next(batches))) is not None:
            self._run.last_data_at = time.monotonic()
            for event in batch:
                if place.is_before(event):
                    await self._hold()
                await self._write_event(event, event.data, None)
                passed_on.append(event)
                self._exchange.written += 1
                if self._exchange.held:
                    self._exchange.events_after_cancel += 1
                if place.is_at(event):
                    await self._hold()
        if self._exchange.ended == "left-open":
            self._exchange.ended = "completed"
        assert self._response is not None
        with contextlib.suppress(ConnectionError):
            await self._response.write_eof()


class _Place:
    """Finds where a cut belongs in an answer that has not ended."""

    def __init__(self, run: ServerRun, rendered: Rendered, cut: Cut | None) -> None:
        self._dialect = run.dialect
        self._head = rendered
        self._cut = cut
        self._events: tuple[WireEvent, ...] = ()

    def is_before(self, event: WireEvent) -> bool:
        """Whether the place is the one between the head and this first event, in an API that has no start; or behind
        the last piece of arguments, which nobody knew to be the last one before this event came."""
        if self._cut is None:
            return False
        if self._events:
            if not self._is_behind_arguments(event):
                return False
            self._cut = None
            return True
        first = Rendered(self._head.status, self._head.headers, (event,))
        if locate(self._dialect, first, self._cut.index, self._cut.after) != BEFORE_ALL:
            return False
        self._cut = None
        return True

    def is_at(self, event: WireEvent) -> bool:
        """Whether the place is right behind this event, the last one that came."""
        if self._cut is None:
            return False
        self._events += (event,)
        if not self._may_be(event):
            return False
        kind, _, ordinal = (self._cut.after or "").partition(":")
        if kind == "args" and sum(one.kind == "args" for one in self._events) < int(ordinal or 1):
            return False
        so_far = Rendered(self._head.status, self._head.headers, self._events)
        if kind == "call":
            # Before this event they were fewer, or the place would have been there.
            is_there = whole_calls(self._dialect, so_far) >= int(ordinal or 1)
        else:
            is_there = locate(self._dialect, so_far, self._cut.index, self._cut.after) == len(self._events) - 1
        if is_there:
            self._cut = None
        return is_there

    def _may_be(self, event: WireEvent) -> bool:
        """Whether an event of this kind can be the place, before all that came is read for it."""
        kind = (self._cut.after or "").partition(":")[0] if self._cut is not None else ""
        if kind == "usage":
            return event.kind in ("usage", "end")
        if kind == "call" and event.kind == "args":
            # Arguments are whole with their last brace: in the JSON of an event it is the last character of a string.
            return b'}"' in event.data
        return not (kind == "call" and event.kind in ("text", "ping", "thinking"))

    def _is_behind_arguments(self, event: WireEvent) -> bool:
        """`args:3` is the last piece where there are fewer."""
        kind = (self._cut.after or "").partition(":")[0] if self._cut is not None else ""
        return kind == "args" and event.kind != "args" and any(one.kind == "args" for one in self._events)


async def while_connected(request: web.Request, run: ServerRun, coming: Awaitable[T]) -> T:
    """What the service is waited for. Raises ConnectionResetError when the client has left, and waits no longer.

    A client with a time limit of the scenario leaves a service that is too slow for it. Then the service is at fault.
    """
    waiting = asyncio.ensure_future(coming)
    began = time.monotonic()
    run.awaited += 1
    try:
        while not (await asyncio.wait({waiting}, timeout=_LOOK))[0]:
            if request.transport is None or request.transport.is_closing():
                # Half of it: the client's clock started before ours, and long before it on a busy machine.
                if run.patience is not None and time.monotonic() - began >= run.patience / 2:
                    run.service_fault = run.service_fault or (
                        f"the service was slower than the client's time limit of {run.patience:g} s"
                    )
                raise ConnectionResetError
        return waiting.result()
    finally:
        run.awaited -= 1
        await _end(waiting)


async def _end(waiting: asyncio.Future[T]) -> None:
    """Wait no longer for what has not come."""
    if not waiting.done():
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, ServiceError, ConnectionError):
            await waiting
    elif not waiting.cancelled():
        waiting.exception()  # seen, also where nobody asked for it


async def _next(batches: AsyncIterator[Sequence[WireEvent]]) -> Sequence[WireEvent] | None:
    return await anext(batches, None)
