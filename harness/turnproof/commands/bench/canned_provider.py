"""A provider that answers at once: fixed bytes for each address, from a process of its own.

It reads no more of a request than where it ends, so that an answer costs the same whatever was asked, and none of that
counts for whoever is measured.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import ssl
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from ...errors import HarnessError

_LIMIT = 30.0
"""Seconds in which the process has to answer: it starts a Python, and does nothing else."""

_SERVER_DIED = "the benchmark's server process has died, or does not answer"

_BACKLOG = 2048
"""How many may want a connection at the same moment: more than a crowd of sessions."""

_NOTHING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it reached the server: its method, its whole URL, and the bytes of its body, as they were framed."""

    method: str
    url: str
    body: bytes


class CannedServer:
    """`with CannedServer() as server: url = server.add({"POST /v1/messages": response})`.

    With a `certificate`, its key and chain as PEM, everything is also served over TLS: see `secure`.
    """

    def __init__(self, certificate: bytes | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, self._theirs = context.Pipe()
        args = self._theirs, certificate
        self._process = context.Process(target=_main, args=args, name="turnproof-canned", daemon=True)
        self._port = self._secure_port = 0

    def __enter__(self) -> CannedServer:
        self._process.start()
        self._theirs.close()
        self._port, self._secure_port = self._receive()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._line.close()
        self._process.join(_LIMIT)
        self._process.kill()

    def add(self, responses: Mapping[str, bytes], base_path: str = "") -> str:
        """A base URL at which each "METHOD /path" gets its response, byte for byte; any other gets 404.

        `base_path` is what of the paths is a part of the base URL.
        """
        return f"http://127.0.0.1:{self._port}/{self._request('add', dict(responses))}{base_path}"

    def secure(self, url: str) -> str:
        """The same base URL over TLS."""
        return url.replace(f"http://127.0.0.1:{self._port}/", f"https://127.0.0.1:{self._secure_port}/", 1)

    def requests(self, url: str) -> int:
        """How many requests were made so far under a base URL."""
        return int(self._request("count", _number(url)))

    def last(self, url: str) -> Sent:
        """The latest request under a base URL. Raises HarnessError if there was none."""
        request = self._request("last", _number(url))
        if not request:
            raise HarnessError(f"nobody has asked {url} anything yet")
        head, _, body = request.partition(b"\r\n\r\n")
        method, target, _ = head.decode("latin-1").split(" ", 2)
        return Sent(method, f"http://127.0.0.1:{self._port}{target}", body)

    def _request(self, what: str, of: Any) -> Any:
        try:
            self._line.send((what, of))
        except OSError as error:
            raise HarnessError(_SERVER_DIED) from error
        return self._receive()

    def _receive(self) -> Any:
        try:
            if self._line.poll(_LIMIT):
                return self._line.recv()
        except (EOFError, OSError) as error:
            raise HarnessError(_SERVER_DIED) from error
        raise HarnessError(_SERVER_DIED)


def _number(url: str) -> int:
    return int(urlsplit(url).path.split("/")[1])


class _Shelf:
    """All responses, by "METHOD /number/path"; of each number how often it was asked, and what at last. One for a
    server."""

    def __init__(self) -> None:
        self._responses: dict[bytes, bytes] = {}
        self._counts: list[int] = []
        self._last: list[bytes] = []

    def add(self, responses: Mapping[str, bytes]) -> int:
        number = len(self._counts)
        self._counts.append(0)
        self._last.append(b"")
        for address, response in responses.items():
            method, _, path = address.partition(" ")
            self._responses[f"{method} /{number}{path}".encode()] = response
        return number

    def count(self, number: int) -> int:
        return self._counts[number]

    def last(self, number: int) -> bytes:
        return self._last[number]

    def response(self, request: bytes) -> bytes:
        method, target, *_ = request.partition(b"\r\n")[0].split(b" ", 2)
        path = target.partition(b"?")[0]
        number = path[1:].partition(b"/")[0]
        if number.isdigit() and int(number) < len(self._counts):
            self._counts[int(number)] += 1
            self._last[int(number)] = request
        return self._responses.get(method + b" " + path, _NOTHING)


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, as far as it is needed to find the end of a request."""

    def __init__(self, shelf: _Shelf) -> None:
        self._shelf = shelf
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := _request_end(self._buffer)) is not None:
            request = bytes(self._buffer[:end])
            del self._buffer[:end]
            self._transport.write(self._shelf.response(request))


def _request_end(buffer: bytearray) -> int | None:
    """Where the first request in the buffer ends; None while it is not whole."""
    head_end = buffer.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    body = head_end + 4
    head = bytes(buffer[:head_end]).lower()
    if b"\r\ntransfer-encoding: chunked" in head:
        # A chunk that holds these very bytes would end it too early; requests are JSON, which has no bare CR.
        end = buffer.find(b"0\r\n\r\n", body)
        return None if end < 0 else end + 5
    length = int(head.partition(b"\r\ncontent-length:")[2].split(b"\r\n", 1)[0] or 0)
    return body + length if len(buffer) >= body + length else None


def _main(line: Connection, certificate: bytes | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act on
    allow_connections(2 * _BACKLOG)
    asyncio.run(_serve(line, certificate))


async def _serve(line: Connection, certificate: bytes | None) -> None:
    shelf = _Shelf()
    server, port = await _listening(shelf, None)
    _, secure_port = (None, 0) if certificate is None else await _listening(shelf, _context(certificate))
    line.send((port, secure_port))
    threading.Thread(target=_obey, args=(line, shelf), daemon=True).start()
    await server.serve_forever()


async def _listening(shelf: _Shelf, tls: ssl.SSLContext | None) -> tuple[asyncio.Server, int]:
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(shelf), "127.0.0.1", 0, ssl=tls, backlog=_BACKLOG
    )
    port: int = server.sockets[0].getsockname()[1]
    return server, port


def _context(certificate: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The module reads keys from files and nowhere else.
    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return context


def _obey(line: Connection, shelf: _Shelf) -> None:
    try:
        while True:
            what, of = line.recv()
            line.send(getattr(shelf, what)(of))
    except (EOFError, OSError):
        os._exit(0)  # the parent has what it wanted


def allow_connections(count: int) -> None:
    """Let this process have so many open files, if the system allows it. Each session has a connection."""
    try:
        import resource
    except ImportError:  # not on every system, and the limit is not either
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
