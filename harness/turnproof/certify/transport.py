"""Answers of the emulator for httpx and httpx2 without a socket. Needs the extra `transport`.

The client under test is not changed: respx (for httpx) and pytest-httpx2 (for httpx2) replace the connection pools
below it. So URLs, headers, bodies and streams pass through the client as they always do.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

import anyio.lowlevel
import httpx
import pytest_httpx2  # noqa: F401 (registers the mocker of httpcore2)
import respx

from ..dialects.base import HttpRequest
from ..wire.emulator.in_process import Break, BrokenConnection, InProcessAnswer, InProcessRun
from ..wire.emulator.server_run import ServerRun

HOST = "turnproof.invalid"
"""No host has such a name (RFC 2606): a request that is not answered in this process reaches nobody."""

_POOLS = ("httpcore", "httpcore2")
"""What httpx and httpx2 stand on. respx has a mocker for each, under the same name."""

_ERRORS: dict[Break, tuple[str, str]] = {
    "reset": ("ReadError", "[Errno 104] Connection reset by peer"),
    "incomplete": ("RemoteProtocolError", "peer closed connection without sending complete message body"),
    "silence": ("ReadTimeout", "timed out"),
}
"""What the pools raise: the class, which both have under one name, and its message."""


@contextlib.contextmanager
def in_process() -> Iterator[Callable[[ServerRun], None]]:
    """Yields a function that serves a run at its new `base_url`, until the context ends.

    Meanwhile httpx and httpx2 reach these runs and nothing else: a request to another host fails with respx's
    `AllMockedAssertionError`.
    """
    with contextlib.ExitStack() as mocking:
        routers = {
            pool: mocking.enter_context(respx.mock(assert_all_called=False, using=pool))
            for pool in _POOLS
            if find_spec(pool) is not None
        }

        def serve(run: ServerRun) -> None:
            prefix = f"/run/{run.id}"
            run.base_url = f"http://{HOST}{prefix}{run.dialect.service.base_path}"
            served = InProcessRun(run)
            for pool, router in routers.items():
                route = router.route(host=HOST, path__startswith=f"{prefix}/")
                route.mock(side_effect=_responder(served, prefix, pool))

        yield serve


def _responder(served: InProcessRun, prefix: str, pool: str) -> Callable[[httpx.Request], httpx.Response]:
    def respond(request: httpx.Request) -> httpx.Response:
        try:
            answer = served.answer(_http_request(request, prefix))
        except BrokenConnection as broken:
            raise _error(pool, broken) from None
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=_Stream(answer, pool))

    return respond


def _http_request(request: httpx.Request, prefix: str) -> HttpRequest:
    path = request.url.path.removeprefix(prefix)
    return HttpRequest(request.method, path, dict(request.url.params), dict(request.headers), request.content)


def _error(pool: str, broken: BrokenConnection) -> Exception:
    """The exception of the connection pool, which the client turns into its own."""
    name, message = _ERRORS[broken.how]
    error: Exception = getattr(import_module(pool), name)(message)
    return error


class _Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an answer, chunk by chunk, for clients of both kinds."""

    def __init__(self, answer: InProcessAnswer, pool: str) -> None:
        self._answer, self._pool = answer, pool

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._answer
        except BrokenConnection as broken:
            raise _error(self._pool, broken) from None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            # Where a socket would be read: other tasks run here, and a cancel arrives.
            await anyio.lowlevel.checkpoint()
            yield chunk

    def close(self) -> None:
        self._answer.close()

    async def aclose(self) -> None:
        self._answer.close()
