"""How an answer goes onto a WebSocket, one message for each event, whole or with the fault that the scenario asks for.

The faults are those of a stream of HTTP, as far as a socket has them: a message can come in fragments, byte by byte or
together with all others; it can be cut, be no JSON, be followed by silence, by a reset or by the end of the socket.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping

from aiohttp import web
from msgspec.structs import replace

from ...dialects.base import Rendered, WireEvent
from ...dialects.contract import Sockets
from ...dialects.sse import Spelling
from ...scenarios.model import Cut, Fault
from .answer_writer import Writer, awkward_pieces
from .server_run import Exchange, ServerRun

_TEXT, _CONTINUED, _LAST = 0x1, 0x0, 0x80
"""Bits of a frame's first byte (RFC 6455, section 5.2)."""

_FAILED = 1011
"""The code with which a server closes a socket because something is wrong with it (RFC 6455, section 7.4.1)."""

_BLANKS: Mapping[Spelling, bytes] = {"crlf": b"\r\n", "folded": b"\n", "padded": b"   "}
"""What stands inside the braces of a message in another spelling. Of the others a message has none: it is JSON and has
nothing around it."""


class SocketWriter(Writer):
    """Writes one answer as messages. The socket stays open behind it, unless a fault ends it."""

    def __init__(
        self,
        request: web.Request,
        run: ServerRun,
        exchange: Exchange,
        rendered: Rendered,
        socket: web.WebSocketResponse,
        sockets: Sockets,
    ) -> None:
        super().__init__(request, run, exchange, rendered)
        self._socket = socket
        self._sockets = sockets
        self._streamed = True
        self._room = None
        self._cuts_the_tail = False
        self._blanks: bytes | None = None

    async def write(self, fault: Fault | None, cut: Cut | None) -> web.StreamResponse:
        self._cuts_the_tail = fault is not None and fault.kind == "no-end"
        if fault is not None and fault.spelling is not None and fault.spelling in self._run.dialect.spellings:
            self._blanks = _BLANKS.get(fault.spelling)
            self._exchange.spelling = fault.spelling if self._blanks is not None else ""
            fault = replace(fault, spelling=None)  # what is around an event in HTTP is not there
        return await super().write(fault, cut)

    async def _headers(self) -> None:
        """A message has no head."""
        self._response = self._socket
        if self._exchange.fault == "respelled" and self._blanks is None:
            self._exchange.fault = None

    def _compress(self) -> None:
        """The handshake has decided it: every message is compressed where the client has offered to read that."""

    def _hold_place(self, cut: Cut) -> int:
        """In front of the last message at the latest: a client that has this one has all, and waits for nothing."""
        place = super()._hold_place(cut)
        return place - 1 if place == len(self._rendered.events) - 1 else place

    async def _end(self) -> None:
        """The socket stays open, unless the last message is to be missing: then it ends in its place."""
        if self._cuts_the_tail:
            await close_quietly(self._socket, _FAILED)

    async def _write_event(self, event: WireEvent, data: bytes, fault: Fault | None) -> None:
        kind = fault.kind if fault is not None else None
        if kind == "no-end" and event.kind == "end":
            return
        message = self._spelled(event.data.rstrip(b"\n"))
        self._exchange.sent += message + b"\n"
        match kind:
            case "split":
                await self._write_frames(_fragments(message))
            case "drip":
                await self._write_frames(bytes([byte]) for byte in frame(message))
            case "merged":
                self._buffer += frame(message)
            case _:
                if kind == "comment":
                    await self._socket.ping(b"keep-alive")
                await self._send_text(message.decode())
        self._exchange.body += event.data

    def _spelled(self, message: bytes) -> bytes:
        if self._blanks is None or not message.startswith(b"{"):
            return message
        return b"{" + self._blanks + message[1:-1] + self._blanks + b"}"

    async def _send_gathered(self) -> None:
        data = bytes(self._buffer)
        self._buffer.clear()
        if data:
            await self._write_frames(iter((data,)))

    async def _before(self, fault: Fault, is_here: bool, event: WireEvent) -> None:
        if is_here and fault.kind == "truncate":
            message = event.data.rstrip(b"\n")
            half = message[: max(1, len(message) // 2)]
            whole = frame(message)
            self._exchange.sent += half
            self._exchange.body += half
            await self._write_frames(iter((whole[: len(whole) - len(message) + len(half)],)))
            await self._break_off()

    async def _after(self, fault: Fault) -> None:
        dialect = self._run.dialect
        match fault.kind:
            case "garbage":
                framed = Rendered(200, {"content-type": "text/event-stream"}, (WireEvent(dialect.garbage, "ping"),))
                await self._send_beside(framed)
                await self._left_or_going_on()
            case "error-event":
                kind, message = dialect.error_kind(fault.status or 529)
                error = dialect.error_event(kind, message, self._rendered.headers)
                failed = await self._send_beside(Rendered(200, self._rendered.headers, (error,)))
                self._sockets.answered(failed, self._exchange.request, self._run.world)
                self._exchange.ended = "cut-by-us"
                raise SocketGoesOn
            case _:
                await super()._after(fault)

    async def _send_beside(self, more: Rendered) -> Rendered:
        """Send what is no part of the answer in the form that it has on a socket."""
        shown = self._sockets.messages(more, self._exchange.request)
        for event in shown.events:
            self._exchange.body += event.data
            self._exchange.sent += event.data
            await self._send_text(event.data.rstrip(b"\n").decode(errors="replace"))
        return shown

    async def _write_frames(self, frames: Iterator[bytes]) -> None:
        """Write bytes of frames, each in a write of its own."""
        for one in frames:
            self._check_peer()
            assert self._transport is not None
            self._transport.write(one)
            await asyncio.sleep(0)

    async def _send_text(self, message: str) -> None:
        """Write through the server's own writer, which waits where the client does not read."""
        self._check_peer()
        try:
            await self._socket.send_str(message)
        except RuntimeError:  # closed in between
            raise ConnectionResetError from None

    def _has_left(self) -> bool:
        return self._socket.closed or super()._has_left()


class SocketGoesOn(Exception):
    """The answer is over before its end, and the socket is not."""


def frame(message: bytes, first: int = _LAST | _TEXT) -> bytes:
    """A frame of a server, which masks nothing."""
    size = len(message)
    if size < 126:
        return bytes((first, size)) + message
    if size < 1 << 16:
        return bytes((first, 126)) + size.to_bytes(2, "big") + message
    return bytes((first, 127)) + size.to_bytes(8, "big") + message


def _fragments(message: bytes) -> Iterator[bytes]:
    """The message as fragments, cut inside of characters too: a client puts them together before it reads them."""
    pieces = list(awkward_pieces(message)) or [b""]
    if len(pieces) == 1:
        middle = len(message) // 2
        pieces = [message[:middle], message[middle:]]
    for n, piece in enumerate(pieces):
        first = (_TEXT if n == 0 else _CONTINUED) | (_LAST if n == len(pieces) - 1 else 0)
        yield frame(piece, first)


async def close_quietly(socket: web.WebSocketResponse, code: int) -> None:
    """Close a socket whose client may be gone."""
    with contextlib.suppress(ConnectionError, RuntimeError):
        await socket.close(code=code)
