"""The HTTP front: one server on loopback for any number of runs, each under `/run/<id>`.

For every request: rewrite (if the run imitates a broken adapter), parse, validate, answer, write with the fault or
the hold that the armed turn asks for. The server runs in a thread of its own; everything it records is read by the
driver only after the exchange is done.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Unpack
from urllib.parse import urlsplit

from aiohttp import web

from ..._base.loopback import is_loopback
from ...dialects.base import HttpRequest, Rendered
from ...dialects.contract import Dialect
from ...errors import HarnessError, ServiceError
from .answer_writer import Writer
from .answers import Answer, answer_exchange
from .content_codings import coding_of, unpack
from .incoming import Incoming
from .passing_writer import PassingWriter, while_connected
from .server_run import SERVER_THREAD, Exchange, Responder, RunOptions, ServerRun, new_run
from .socket_front import SocketFront, not_a_handshake

log = logging.getLogger(__name__)

MAX_BODY = 64 * 1024 * 1024
"""Bytes of a body, before it is decompressed and after: twice what the largest of the services takes."""

MOST_STRAYS = 1000
"""Requests outside of every run's address that are noted."""

SWITCHING = 101
"""The status with which a WebSocket is opened."""

IDLE_LIMIT = 60.0
"""Seconds in which a connection has to bring the rest of a head or of a body, or its next request."""

_QUIET = logging.getLogger(f"{__name__}.requests")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False  # what is no HTTP is answered with 400: nobody needs our traceback of it


class EmulatorServer:
    """A loopback server. `with EmulatorServer() as server: run = server.open_run(dialect, responder)`."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0, *, idle_limit: float = IDLE_LIMIT) -> None:
        self._host, self._wanted_port = host, port
        self._idle_limit = idle_limit
        self._runs: dict[str, ServerRun] = {}
        self._ids = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name=SERVER_THREAD, daemon=True)
        self._silent: dict[web.RequestHandler, asyncio.TimerHandle] = {}
        """New connections that have brought no head yet, and when each of them is given up."""
        self.port = 0
        self.requests = 0
        self.strays: list[str] = []
        """Requests outside of every run's address, the first of them."""

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://{self._host}:{self.port}"

    def start(self) -> EmulatorServer:
        """Listen. Raises HarnessError when the port is taken."""
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise HarnessError(f"cannot listen on {self._host}:{self._wanted_port}: {self._failure}")
        return self

    def stop(self) -> None:
        """Close every connection and end the thread. Calling it twice is harmless."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=10)

    def __enter__(self) -> EmulatorServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def open_run(
        self,
        dialect: Dialect,
        responder: Responder,
        *,
        run_id: str | None = None,
        **options: Unpack[RunOptions],
    ) -> ServerRun:
        """A new run with a base URL, world and prompt cache of its own. Thread-safe."""
        name = run_id if run_id is not None else f"r{next(self._ids)}"
        run = new_run(name, dialect, responder, **options)
        run.base_url = (f"{self.url}/run/{name}" if name else self.url) + dialect.service.base_path
        self._runs[name] = run
        return run

    def close_run(self, run: ServerRun) -> None:
        """Forget a run. Thread-safe."""
        self._runs.pop(run.id, None)

    # -- the server's own thread ---------------------------------------------------------------------------

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner: web.AppRunner | None = None
        try:
            app = web.Application(client_max_size=MAX_BODY)
            app.router.add_route("*", "/{tail:.*}", self._handle)
            runner = web.AppRunner(
                app,
                access_log=None,
                shutdown_timeout=0.2,
                auto_decompress=False,
                logger=_QUIET,
                keepalive_timeout=self._idle_limit,
            )
            self._loop.run_until_complete(runner.setup())
            assert runner.server is not None
            listener = self._loop.run_until_complete(
                self._loop.create_server(self._connections(runner.server), self._host, self._wanted_port, backlog=512)
            )
            self.port = listener.sockets[0].getsockname()[1]
        except OSError as error:
            self._failure = error
            return
        finally:
            self._started.set()
        try:
            self._loop.run_forever()
        finally:
            listener.close()
            self._loop.run_until_complete(runner.cleanup())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _connections(self, server: web.Server) -> Callable[[], web.RequestHandler]:
        """What makes the protocol of a new connection, which is ended where no whole head comes in time."""

        def give_up(connection: web.RequestHandler) -> None:
            if self._silent.pop(connection, None) is not None and connection.transport is not None:
                connection.transport.abort()

        def connect() -> web.RequestHandler:
            connection = server()
            self._silent[connection] = self._loop.call_later(self._idle_limit, give_up, connection)
            return connection

        return connect

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        if (giving_up := self._silent.pop(request.protocol, None)) is not None:
            giving_up.cancel()
        if not is_own_host(request.headers.get("host", ""), listening_on=self._host):
            self._note_stray(request)
            return web.json_response({"error": "this server answers for localhost alone"}, status=403)
        name, path = _split(request.path)
        run = self._runs.get(name)
        if run is None:
            self._note_stray(request)
            return web.json_response({"error": f"no run {name!r} here"}, status=404)
        connection = run.number_of(request.transport)
        try:
            body = await self._body(request)
        except TimeoutError:
            return web.json_response({"error": "the request's body did not come"}, status=408)
        except (web.RequestPayloadError, zlib.error):
            body = b""  # not encoded as its head says: nobody can read it, and the dialect says so
        headers = {key.lower(): value for key, value in request.headers.items()}
        http = HttpRequest(request.method, path, dict(request.query), headers, body, connection)
        if run.filter is not None:
            http = run.filter.request(http)
        exchange = Exchange(len(run.exchanges), http, turn=run.turn_index, probe=run.probe, connection=connection)
        run.exchanges.append(exchange)
        async with _served(request, run, exchange) as served:
            served.response = await self._exchange(request, run, exchange)
        if exchange.status == SWITCHING and isinstance(served.response, web.WebSocketResponse):
            await self._talk(request, run, exchange, served.response)
        return served.response

    def _note_stray(self, request: web.Request) -> None:
        if len(self.strays) < MOST_STRAYS:
            self.strays.append(f"{request.method} {request.path}")

    async def _talk(
        self, request: web.Request, run: ServerRun, handshake: Exchange, socket: web.WebSocketResponse
    ) -> None:
        """Serve the socket that a handshake has opened."""

        async def serve(exchange: Exchange, write: Callable[[], Awaitable[None]]) -> None:
            self.requests += 1
            async with _served(request, run, exchange):
                await write()

        def judge(exchange: Exchange) -> Awaitable[Answer]:
            return answer_exchange(run, exchange)

        assert run.dialect.sockets is not None
        await SocketFront(request, handshake.request, run, run.dialect.sockets, judge, serve).talk(socket)

    async def _body(self, request: web.Request) -> bytes:
        """The body, decompressed. Raises HTTPRequestEntityTooLarge for one over `MAX_BODY`, packed or unpacked,
        TimeoutError for one that does not come."""
        body = await asyncio.wait_for(request.read(), self._idle_limit)
        coding = coding_of(request.headers)
        if not body or not coding:
            return body
        # In another thread: what unpacks for seconds holds up no other request.
        unpacked = await asyncio.to_thread(unpack, body, coding, MAX_BODY)
        if unpacked is None:
            raise web.HTTPRequestEntityTooLarge(max_size=MAX_BODY, actual_size=MAX_BODY + 1)
        return unpacked

    async def _exchange(self, request: web.Request, run: ServerRun, exchange: Exchange) -> web.StreamResponse:
        answer = await self._answered(request, run, exchange)
        if not isinstance(answer.rendered, Incoming) and answer.rendered.status == SWITCHING:
            return await self._opened(request, run, exchange)
        if isinstance(answer.rendered, Incoming):
            return await PassingWriter(request, run, exchange, answer.rendered).write(None, answer.cut)
        if run.filter is not None and exchange.call is not None:
            return await self._rewritten(request, run, exchange, answer.rendered, answer)
        return await Writer(request, run, exchange, answer.rendered).write(answer.fault, answer.cut)

    async def _opened(self, request: web.Request, run: ServerRun, exchange: Exchange) -> web.StreamResponse:
        """The socket that the request asks for, open; or the refusal of a request that is no handshake."""
        socket = web.WebSocketResponse(max_msg_size=MAX_BODY)
        try:
            await socket.prepare(request)
        except web.HTTPBadRequest:
            exchange.answered = 400
            return await Writer(request, run, exchange, not_a_handshake()).write(None, None)
        exchange.status, exchange.ended = SWITCHING, "completed"
        return socket

    async def _answered(self, request: web.Request, run: ServerRun, exchange: Exchange) -> Answer:
        """The answer. Where the real service gives it, nobody goes on waiting for it when the client has left."""
        if run.judges:
            return await answer_exchange(run, exchange)
        return await while_connected(request, run, answer_exchange(run, exchange))

    async def _rewritten(
        self,
        request: web.Request,
        run: ServerRun,
        exchange: Exchange,
        rendered: Rendered,
        answer: Answer,
    ) -> web.StreamResponse:
        """Write what the proxy makes of the answer, but record what the server itself said."""
        assert run.filter is not None
        assert exchange.call is not None
        shown = run.filter.response(exchange.call, rendered)
        response = await Writer(request, run, exchange, shown).write(answer.fault, answer.cut)
        if shown is not rendered and exchange.ended == "completed":
            exchange.body = bytearray(rendered.body)
            exchange.status, exchange.headers = rendered.status, dict(rendered.headers)
        return response


@dataclass(slots=True)
class _Served:
    """What a request got."""

    response: web.StreamResponse


@asynccontextmanager
async def _served(request: web.Request, run: ServerRun, exchange: Exchange) -> AsyncIterator[_Served]:
    """Notes how an exchange that is served in the block has gone, and that it is over."""
    served = _Served(web.Response(status=500))
    try:
        yield served
    except ConnectionError:
        raise
    except ServiceError as error:
        run.service_fault = run.service_fault or str(error)
        served.response = _broken_off(request, exchange)
    except Exception as error:
        # Our own fault must not pass for a broken service, which an adapter would be judged by.
        log.exception("a request could not be served")
        run.failure = run.failure or f"{type(error).__name__}: {error}"
        raise
    finally:
        exchange.over = time.monotonic()
        exchange.done.set()
        if run.on_exchange is not None:
            run.on_exchange(exchange)


def _broken_off(request: web.Request, exchange: Exchange) -> web.StreamResponse:
    """End the connection as the service ended its own."""
    exchange.ended = "cut-by-us"
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)


def is_own_host(header: str, *, listening_on: str) -> bool:
    """Whether a Host header names this machine: a page whose name was made to lead here names itself.

    Whoever listens on an address that others reach has opened it to the names that they know it by.
    """
    if not is_loopback(listening_on):
        return True
    name = urlsplit(f"//{header}").hostname or ""
    return name == listening_on.lower() or is_loopback(name)


def _split(path: str) -> tuple[str, str]:
    """`/run/<id>/v1/messages` -> (`<id>`, `/v1/messages`); any other path belongs to the run without a name."""
    if path.startswith("/run/"):
        name, _, rest = path[5:].partition("/")
        return name, "/" + rest
    return "", path
