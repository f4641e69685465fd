"""The WebSocket front: one connection on which a client sends one request after the other, each a message.

Each message is an exchange like any other, with the number of its connection. The messages of one lane are answered one
after the other; those of several lanes at the same time. What goes back are messages as well.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from aiohttp import WSMsgType, web

from ...dialects.base import SOCKET_METHOD, HttpRequest, Rendered, WireEvent
from ...dialects.contract import Sockets
from .answers import Answer
from .incoming import Incoming
from .server_run import Exchange, ServerRun
from .socket_writer import SocketGoesOn, SocketWriter, close_quietly

_WAITING = 64
"""Messages of a lane that wait for their turn: who sends more is read no further until some are answered."""

_NORMAL = 1000

Judge = Callable[[Exchange], Awaitable[Answer]]
Serve = Callable[[Exchange, Callable[[], Awaitable[None]]], Awaitable[None]]


class SocketFront:
    """Serves one socket. `judge` answers an exchange; `serve` runs what answers it and notes when it is over."""

    def __init__(
        self, request: web.Request, handshake: HttpRequest, run: ServerRun, sockets: Sockets, judge: Judge, serve: Serve
    ) -> None:
        self._request = request
        self._handshake = handshake
        self._run = run
        self._sockets = sockets
        self._judge = judge
        self._serve = serve
        self._lanes: dict[str, tuple[asyncio.Queue[bytes | None], asyncio.Task[None]]] = {}
        self._over = False

    async def talk(self, socket: web.WebSocketResponse) -> None:
        """Answer messages until the socket is closed. It has been prepared."""
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._put(message.data.encode(), socket)
                elif message.type is WSMsgType.BINARY:
                    await self._put(message.data, socket)
            self._over = True
            for queue, _ in self._lanes.values():
                with contextlib.suppress(asyncio.QueueFull):
                    queue.put_nowait(None)
            # Who writes an answer sees by itself that the client is gone.
            await asyncio.gather(*(task for _, task in self._lanes.values()))
        finally:
            for _, task in self._lanes.values():
                task.cancel()

    async def _put(self, message: bytes, socket: web.WebSocketResponse) -> None:
        lane = self._sockets.lane(message)
        if lane not in self._lanes:
            queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)
            self._lanes[lane] = queue, asyncio.ensure_future(self._work(queue, socket))
        await self._lanes[lane][0].put(message)

    async def _work(self, queue: asyncio.Queue[bytes | None], socket: web.WebSocketResponse) -> None:
        while (message := await queue.get()) is not None and not self._over:
            await self._answer(message, socket)

    async def _answer(self, message: bytes, socket: web.WebSocketResponse) -> None:
        run, handshake = self._run, self._handshake
        http = HttpRequest(
            SOCKET_METHOD, handshake.path, handshake.query, handshake.headers, message, handshake.connection
        )
        if run.filter is not None:
            http = run.filter.request(http)
        exchange = Exchange(
            len(run.exchanges), http, turn=run.turn_index, probe=run.probe, connection=handshake.connection
        )
        run.exchanges.append(exchange)
        await self._serve(exchange, lambda: self._write(exchange, socket))
        if any(one.enforced and one.rule.id in self._sockets.final_rules for one in exchange.findings):
            await close_quietly(socket, _NORMAL)

    async def _write(self, exchange: Exchange, socket: web.WebSocketResponse) -> None:
        answer = await self._judge(exchange)
        assert not isinstance(answer.rendered, Incoming)
        rendered = answer.rendered
        shown = rendered
        if self._run.filter is not None and exchange.call is not None:
            shown = self._run.filter.response(exchange.call, rendered)
        messages = self._sockets.messages(shown, exchange.request)
        self._sockets.answered(messages, exchange.request, self._run.world)
        writer = SocketWriter(self._request, self._run, exchange, messages, socket, self._sockets)
        with contextlib.suppress(SocketGoesOn):
            await writer.write(answer.fault, answer.cut)
        exchange.events = self._sockets.messages(rendered, exchange.request).events
        if shown is not rendered and exchange.ended == "completed":
            exchange.body = bytearray(b"".join(event.data for event in exchange.events))
            exchange.status, exchange.headers = rendered.status, dict(messages.headers)


def not_a_handshake() -> Rendered:
    """The answer to a request for a socket that lacks what a handshake has to have."""
    text = b"This is no handshake of a WebSocket (RFC 6455, section 4.2.1)."
    return Rendered(400, {"content-type": "text/plain; charset=utf-8"}, (WireEvent(text, "body"),))
