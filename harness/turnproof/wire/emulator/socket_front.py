"""The WebSocket front: one connection on which a client sends one request after the other, each a message.

Each message is an exchange like any other, with the number of its connection. The messages of one lane are answered one
after the other; those of several lanes at the same time. What goes back are messages as well.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

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


@dataclass(eq=False)
class SocketFront:
    """Serves one socket. `judge` answers an exchange; `serve` runs what answers it and notes when it is over."""

    request: web.Request
    handshake: HttpRequest
    run: ServerRun
    sockets: Sockets
    judge: Judge
    serve: Serve
    _lanes: dict[str, tuple[asyncio.Queue[bytes | None], asyncio.Task[None]]] = field(default_factory=dict, init=False)
    _over: bool = field(default=False, init=False)

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
        lane = self.sockets.lane(message)
        if lane not in self._lanes:
            queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)
            self._lanes[lane] = queue, asyncio.ensure_future(self._work(queue, socket))
        await self._lanes[lane][0].put(message)

    async def _work(self, queue: asyncio.Queue[bytes | None], socket: web.WebSocketResponse) -> None:
        while (message := await queue.get()) is not None and not self._over:
            await self._answer(message, socket)

    async def _answer(self, message: bytes, socket: web.WebSocketResponse) -> None:
        run, handshake = self.run, self.handshake
        http = HttpRequest(
            SOCKET_METHOD, handshake.path, handshake.query, handshake.headers, message, handshake.connection
        )
        if run.filter is not None:
            http = run.filter.request(http)
        exchange = Exchange(
            len(run.exchanges), http, turn=run.turn_index, probe=run.probe, connection=handshake.connection
        )
        run.exchanges.append(exchange)
        await self.serve(exchange, lambda: self._write(exchange, socket))
        if any(one.enforced and one.rule.id in self.sockets.final_rules for one in exchange.findings):
            await close_quietly(socket, _NORMAL)

    async def _write(self, exchange: Exchange, socket: web.WebSocketResponse) -> None:
        answer = await self.judge(exchange)
        assert not isinstance(answer.rendered, Incoming)
        rendered = answer.rendered
        shown = rendered
        if self.run.filter is not None and exchange.call is not None:
            shown = self.run.filter.response(exchange.call, rendered)
        messages = self.sockets.messages(shown, exchange.request)
        self.sockets.answered(messages, exchange.request, self.run.world)
        writer = SocketWriter(self.request, self.run, exchange, messages, socket, self.sockets)
        with contextlib.suppress(SocketGoesOn):
            await writer.write(answer.fault, answer.cut)
        exchange.events = self.sockets.messages(rendered, exchange.request).events
        if shown is not rendered and exchange.ended == "completed":
            exchange.body = bytearray(b"".join(event.data for event in exchange.events))
            exchange.status, exchange.headers = rendered.status, dict(messages.headers)


def not_a_handshake() -> Rendered:
    """The answer to a request for a socket that lacks what a handshake has to have."""
    text = b"This is no handshake of a WebSocket (RFC 6455, section 4.2.1)."
    return Rendered(400, {"content-type": "text/plain; charset=utf-8"}, (WireEvent(text, "body"),))
