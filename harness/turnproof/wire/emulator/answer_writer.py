"""How an answer goes onto the socket, whole or with the fault that the scenario asks for.

Everything here acts on the real connection: resets are RSTs, truncations leave a chunk unfinished, splits put
every byte around a multi-byte character or a line end into a write of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

from aiohttp import web

from ...dialects.base import Rendered, WireEvent
from ...dialects.contract import Dialect
from ...dialects.sse import respelled
from ...messages import FunctionCall, Text, Thought
from ...scenarios.model import Cut, Fault
from .server_run import Arrived, Exchange, ServerRun

_PLACED = frozenset({"truncate", "reset", "stall", "garbage", "error-event"})
"""Faults that happen at one event of an answer."""
_POLL, _SELDOM, _SHARE = 0.002, 0.02, 0.02
"""Seconds between two looks: at first, at the most, and as a part of the time that it takes already."""
_AWAKE = 0.1
"""Seconds that count at most between two looks: where the machine stood still for longer, so did the client."""
GRACE = 1.5
"""Seconds in which a client that has returned must have closed its connection."""
_GZIP = 31
"""How zlib is told to write gzip."""
_REACTION = 0.75
"""Seconds in which a client that leaves because of what it got is seen to leave."""
_DELIVERY = 5.0
"""Seconds that a client may take until its machine has what was written to it."""


class Writer:
    """Writes one answer of one exchange."""

    def __init__(self, request: web.Request, run: ServerRun, exchange: Exchange, rendered: Rendered) -> None:
        self._request = request
        self._run = run
        self._exchange = exchange
        self._rendered = rendered
        self._transport = request.transport
        self._streamed = is_streamed(rendered)
        self._response: web.StreamResponse | None = None
        self._room = self._length()
        self._buffer = bytearray()
        self._packer: zlib._Compress | None = None

    def _length(self) -> int | None:
        """How many bytes the body may have: as many as the head says, none where HTTP has no body, else any number."""
        if self._request.method == "HEAD" or self._rendered.status in (204, 304):
            return 0
        return None if self._streamed else len(self._rendered.events[0].data)

    async def write(self, fault: Fault | None, cut: Cut | None) -> web.StreamResponse:
        """Write the answer; fills in the exchange. Returns the response object (finished or abandoned)."""
        exchange, rendered = self._exchange, self._rendered
        exchange.status, exchange.headers = rendered.status, dict(rendered.headers)
        if fault is not None and exchange.fault is None:
            exchange.fault = fault.kind
        if fault is not None and fault.kind == "compressed":
            self._compress()
        try:
            if cut is not None and cut.at == "batch":
                await self._hold()
            if fault is not None and fault.index < 0 and fault.after is None:
                if fault.kind in ("reset", "refuse-connection"):
                    return self._reset()
                if fault.kind == "stall":
                    return await self._stall()
            await self._headers()
            await self._events(fault, cut)
            if fault is not None and fault.kind == "idle-close":
                await self._close_idle()
        except (ConnectionResetError, ConnectionError):
            exchange.ended = "cut-by-peer"
        except _CutByUsError:
            exchange.ended = "cut-by-us"
        except _TimedOutError:
            exchange.ended = "timed-out"
        return self._response or web.Response(status=500)

    async def _headers(self) -> None:
        response = web.StreamResponse(status=self._rendered.status, headers=dict(self._rendered.headers))
        if self._packer is not None:
            response.headers["content-encoding"] = "gzip"
        if self._streamed or self._packer is not None:
            response.enable_chunked_encoding()
        else:
            response.content_length = len(self._rendered.events[0].data)
        self._response = response
        await response.prepare(self._request)

    async def _events(self, fault: Fault | None, cut: Cut | None) -> None:
        events = self._rendered.events
        dialect = self._run.dialect
        written = spelled(dialect, self._rendered, fault, self._exchange)
        fault_at = locate(dialect, self._rendered, fault.index, fault.after) if fault is not None else NOWHERE
        if fault is not None and fault_at == NOWHERE and fault.kind in _PLACED and not self._run.judges:
            self._exchange.fault = None  # the service's answer has no such place, and came as it is
        waits = cut is not None and cut.at in ("event", "child")
        cut_at = self._hold_place(cut) if cut is not None and waits else NOWHERE
        drawn_anew = self._streamed and self._run.is_drawn_anew(self._exchange.round)
        leaves_at = self._first_other_word() if drawn_anew else NOWHERE
        if cut_at == BEFORE_ALL:
            await self._hold()
        if fault is not None and fault_at == BEFORE_ALL:
            await self._after(fault)
        for position, event in enumerate(events):
            self._check_peer()
            if fault is not None:
                await self._before(fault, position == fault_at, event)
            await self._write_event(event, written[position], fault)
            self._exchange.written += 1
            if self._exchange.held:
                self._exchange.events_after_cancel += 1
            if position == leaves_at:
                await self._send_gathered()
                await self._left_or_going_on()
            if position == cut_at:
                await self._send_gathered()
                await self._hold()
            if fault is not None and position == fault_at:
                if fault.kind == "no-end":
                    break
                await self._after(fault)
        assert self._response is not None
        await self._send_gathered()
        if self._packer is not None:
            await self._response.write(self._packer.flush())
        if fault is not None and fault.kind == "no-end":
            self._exchange.ended = "cut-by-us"
        if self._exchange.ended == "left-open":
            # All of it went out without a pause: whether the peer still listens at this moment is a matter of luck.
            self._exchange.ended = "completed"
        await self._end()

    def _first_other_word(self) -> int:
        """The position of the first event with text."""
        return locate(self._run.dialect, self._rendered, 0, "text:1")

    def _hold_place(self, cut: Cut) -> int:
        """The position of the event behind which the answer waits for a cancel."""
        return locate(self._run.dialect, self._rendered, cut.index, cut.after)

    async def _end(self) -> None:
        """Say that the answer is over."""
        assert self._response is not None
        with contextlib.suppress(ConnectionError):
            await self._response.write_eof()

    async def _send(self, data: bytes) -> bytes:
        """Write bytes of the body; those that it had room for.

        They count as sent before anything is waited for: once they are with the system, a client may have them.
        """
        assert self._response is not None
        self._check_peer()
        if self._room is not None:
            data = data[: self._room]
            self._room -= len(data)
        if data:
            self._exchange.sent += data
            await self._response.write(self._packed(data))
        return data

    def _compress(self) -> None:
        """Write the answer in gzip, where the client takes that. What is kept of it is what the client unpacks.

        The fault is recorded also for a client that accepts no gzip. A gateway would not compress its answer either.
        """
        if "gzip" in self._request.headers.get("accept-encoding", "") and self._room != 0:
            self._packer = zlib.compressobj(wbits=_GZIP)

    def _packed(self, data: bytes) -> bytes:
        return data if self._packer is None else self._packer.compress(data) + self._packer.flush(zlib.Z_SYNC_FLUSH)

    async def _send_gathered(self) -> None:
        """Send what was gathered to go out in one write."""
        data = bytes(self._buffer)
        self._buffer.clear()
        await self._send(data)

    async def _close_idle(self) -> None:
        """Close the connection behind the whole answer, before anybody can know that the exchange is over."""
        if self._transport is not None:
            self._transport.close()
        await self._drained()

    async def _write_event(self, event: WireEvent, data: bytes, fault: Fault | None) -> None:
        if fault is not None and fault.kind == "no-end" and event.kind == "end":
            return
        for piece in pieces(self._run.dialect, self._rendered, data, fault):
            if fault is not None and fault.kind == "merged" and self._streamed:
                self._buffer += piece
            else:
                await self._send(piece)
        self._exchange.body += event.data

    async def _before(self, fault: Fault, is_here: bool, event: WireEvent) -> None:
        if is_here and fault.kind == "truncate":
            self._exchange.body += await self._send(event.data[: max(1, len(event.data) // 2)])
            await self._break_off()

    async def _break_off(self) -> NoReturn:
        await asyncio.sleep(0)
        if self._transport is not None:
            self._transport.close()
        raise _CutByUsError

    async def _after(self, fault: Fault) -> None:
        assert self._response is not None
        match fault.kind:
            case "reset":
                await self._drained()
                await self._wait_until_received()
                self._reset()
                raise _CutByUsError
            case "stall":
                await self._stall()
            case "truncate":  # behind the head, where there is no event to be cut
                await self._break_off()
            case "no-end":
                await self._response.write_eof()
                raise _CutByUsError
            case "garbage":
                self._exchange.body += await self._send(self._run.dialect.garbage)
                await self._left_or_going_on()
            case "error-event":
                kind, message = self._run.dialect.error_kind(fault.status or 529)
                event = self._run.dialect.error_event(kind, message, self._rendered.headers)
                self._exchange.body += await self._send(event.data)
                await self._response.write_eof()
                raise _CutByUsError
            case _:
                pass

    async def _hold(self) -> None:
        """Keep the stream where it is until the cancel has happened, as seen from here."""
        run, exchange = self._run, self._exchange
        exchange.held = True
        exchange.settled = exchange.progress
        seen = run.dialect.read_response(exchange.status or 200, exchange.headers, bytes(exchange.body))
        text = sum(len(part.text) for part in seen.parts if isinstance(part, Text))
        thinking = sum(len(part.text) for part in seen.parts if isinstance(part, Thought))
        calls = sum(1 for part in seen.parts if isinstance(part, FunctionCall))
        await self._drained()
        child = run.children.get(exchange.child) if exchange.child is not None else None
        returned = run.call_returned if child is None else child.over
        run.on_hold(Arrived(text, thinking, calls, tokens=seen.usage.total_tokens if seen.usage is not None else 0))
        async for _ in _until(run.hold_limit):
            if self._has_left():
                exchange.released = "peer-closed"
                raise ConnectionResetError
            if returned.is_set():
                # An adapter that closes and returns may be seen to return first: what counts is that it closes.
                async for _ in _until(GRACE):
                    if self._has_left():
                        exchange.released = "peer-closed"
                        raise ConnectionResetError
                exchange.released = "call-returned"
                return
        exchange.released = "limit"

    async def _stall(self) -> web.StreamResponse:
        self._exchange.settled = self._exchange.progress
        async for _ in _until(self._run.stall_limit):
            self._check_peer()
        if self._transport is not None:
            self._transport.abort()
        raise _TimedOutError

    async def _left_or_going_on(self) -> None:
        """Wait until the client has left because of what it got, or long enough to say that it goes on."""
        self._exchange.settled = self._exchange.progress
        async for _ in _until(_REACTION):
            self._check_peer()

    async def _drained(self) -> None:
        """Give the loop the chance to hand what was written to the kernel."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def _wait_until_received(self) -> None:
        """Wait, a while at most, until the client's machine has all that was written: a reset throws away the rest."""
        async for _ in _until(_DELIVERY):
            if self._transport is None or self._has_left() or not _on_its_way(self._transport):
                return

    def _reset(self) -> web.StreamResponse:
        self._exchange.ended = "cut-by-us"
        if self._transport is not None:
            sock = self._transport.get_extra_info("socket")
            if sock is not None:
                with contextlib.suppress(OSError):  # the peer may already be gone, which is what we want
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()
        return self._response or web.Response(status=500)

    def _has_left(self) -> bool:
        return self._transport is None or self._transport.is_closing() or self._request.transport is None

    def _check_peer(self) -> None:
        if self._has_left():
            raise ConnectionResetError


def _on_its_way(transport: asyncio.Transport) -> int:
    """Bytes that were written and that the other side has not acknowledged, as far as this system tells."""
    waiting = transport.get_write_buffer_size()
    sock = transport.get_extra_info("socket")
    if sys.platform != "linux" or sock is None:
        return waiting
    import fcntl
    import termios

    try:
        count_bytes = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4))
    except OSError:  # closed
        return waiting
    return waiting + int.from_bytes(count_bytes, sys.byteorder)


class _CutByUsError(Exception):
    """The fault has ended this exchange."""


class _TimedOutError(Exception):
    """The client stayed away for too long."""


async def _until(limit: float) -> AsyncIterator[None]:
    """Look again and again, for so many seconds: the longer it takes, the less often. The last look is behind the
    limit, when everything has been heard that had arrived by then."""
    left = limit
    while left > 0:
        yield
        before = time.monotonic()
        await asyncio.sleep(min(max(_POLL, (limit - left) * _SHARE), _SELDOM, left))
        left -= min(time.monotonic() - before, _AWAKE)
    yield


NOWHERE = -1
BEFORE_ALL = -2
"""Positions beside those of events: none, and the moment at which only the head of the answer is out."""


def is_streamed(rendered: Rendered) -> bool:
    """Whether the answer is a stream, and not one body."""
    return not (len(rendered.events) == 1 and rendered.events[0].kind == "body")


def spelled(dialect: Dialect, rendered: Rendered, fault: Fault | None, exchange: Exchange) -> Sequence[bytes]:
    """The bytes of each event, in the spelling that the fault asks for. Notes another spelling in the exchange."""
    events = [event.data for event in rendered.events]
    if fault is None or fault.spelling is None or fault.spelling not in dialect.spellings or not is_streamed(rendered):
        return events
    exchange.spelling = fault.spelling
    return list(respelled(events, fault.spelling))


def pieces(dialect: Dialect, rendered: Rendered, data: bytes, fault: Fault | None) -> Iterator[bytes]:
    """One event as the writes that the fault makes of it."""
    match fault.kind if fault is not None else None:
        case "split":
            return awkward_pieces(data)
        case "drip":
            return (data[n : n + 1] for n in range(len(data)))
        case "comment" if is_streamed(rendered):
            return iter((*dialect.noise, data))
        case _:
            return iter((data,))


def locate(dialect: Dialect, rendered: Rendered, index: int, after: str | None) -> int:
    """The position of an event named by its index (pings not counted), or as `kind:ordinal` in neutral words.

    Not every API tells everything in events of its own. Where it has no start, `start` is when the head is out; where
    figures come with the end, `usage` is the end; `call:2` is the event with which the second call became whole; and
    where a call comes in fewer pieces than the script has, `args:3` is the last of them. NOWHERE if there is none.
    """
    events = rendered.events
    if after is None:
        real = [position for position, event in enumerate(events) if event.kind != "ping"]
        return real[index] if 0 <= index < len(real) else NOWHERE
    kind, _, ordinal = after.partition(":")
    number = int(ordinal or 1)
    if kind == "call":
        return _whole_call(dialect, rendered, number)
    kinds = [event.kind for event in events]
    if kind == "start" and "start" not in kinds:
        return BEFORE_ALL
    if kind == "usage" and "usage" not in kinds:
        kind = "end"
    found = [position for position, here in enumerate(kinds) if here == kind]
    if kind == "args" and found:
        number = min(number, len(found))
    return found[number - 1] if 0 < number <= len(found) else NOWHERE


def whole_calls(dialect: Dialect, rendered: Rendered) -> int:
    """How many calls of an answer that may go on are whole by now."""
    read = dialect.read_response(rendered.status, rendered.headers, rendered.body)
    return sum(isinstance(part, FunctionCall) for part in read.parts)


def _whole_call(dialect: Dialect, rendered: Rendered, call_index: int) -> int:
    for position in range(len(rendered.events)):
        if whole_calls(dialect, replace(rendered, events=rendered.events[: position + 1])) >= call_index:
            return position
    return NOWHERE


def awkward_pieces(data: bytes) -> Iterator[bytes]:
    """The bytes cut inside every multi-byte character and at every line end; joined they are unchanged."""
    start = 0
    for position, byte in enumerate(data):
        inside = 0x80 <= byte < 0xC0
        line_end = byte in (0x0A, 0x0D) or (position > 0 and data[position - 1] in (0x0A, 0x0D))
        if (inside or line_end) and position > start:
            yield data[start:position]
            start = position
    if start < len(data):
        yield data[start:]
