"""A server on a real socket that answers as a test tells it: whole, in pieces, late, cut off, or not at all.

It knows HTTP just well enough to read a request. What it writes is up to the test, byte for byte, so that a client
meets exactly the chunk borders, resets and silences that the test is about.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

LIMIT = 60.0
"""Seconds after which something that must happen has not happened. A busy machine stands still for a while."""


@dataclass
class Exchange:
    """One request and the means to answer it. Everything may also be left undone."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: socket.socket
    ordinal: int
    hung_up: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def write(self, data: bytes) -> None:
        self.connection.sendall(data)

    def answer(self, body: Any, status: int = 200, **headers: str) -> None:
        """A whole answer with a content length."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.head(status, {"content-type": "application/json", "content-length": str(len(data))} | headers)
        self.write(data)

    def head(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in (headers or {}).items())]
        self.write("\r\n".join([*lines, "", ""]).encode())

    def stream_head(self) -> None:
        self.head(200, {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"})

    def chunk(self, data: bytes) -> None:
        self.write(b"%x\r\n%b\r\n" % (len(data), data))

    def end(self) -> None:
        self.write(b"0\r\n\r\n")

    def stream(self, *pieces: bytes) -> None:
        """A whole stream, one chunk a piece."""
        self.stream_head()
        for piece in pieces:
            self.chunk(piece)
        self.end()

    def reset(self) -> None:
        """Break the connection with a TCP reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def wait_for_hangup(self) -> bool:
        """Block until the client closes its side; False if it does not within the limit."""
        self.connection.settimeout(LIMIT)
        try:
            while self.connection.recv(65536):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
        self.hung_up.set()
        return True


Script = Callable[[Exchange], None]


class ScriptedServer:
    """Answers the n-th request with the n-th script, and every later one with the last."""

    def __init__(self, *scripts: Script) -> None:
        self.requests: list[Exchange] = []
        self.connections = 0
        self.hung_up = threading.Event()
        self.faults: list[BaseException] = []
        self._scripts = scripts
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._serving: list[threading.Thread] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        # Threads that wait for a client, or for what it says, notice a shutdown, and no mere close().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(LIMIT)
        assert not self._accepting.is_alive()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        # Not closed before their threads are gone: another thread's next socket may get the number of a closed one.
        for thread in self._serving:
            thread.join(LIMIT)
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # Else the end of an answer waits here for a client that is slow to acknowledge its beginning, and a reset
            # throws it away.
            with suppress(OSError):  # whoever connected may have left
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self.connections += 1
                self._open.append(connection)
                self._serving.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        rest = b""
        try:
            while True:
                request, rest = _read(connection, rest)
                if request is None:
                    return
                with self._lock:
                    exchange = Exchange(*request, connection, len(self.requests))
                    self.requests.append(exchange)
                self._scripts[min(exchange.ordinal, len(self._scripts) - 1)](exchange)
                if exchange.hung_up.is_set():
                    self.hung_up.set()
                    return
        except OSError:
            # The client left, or a script broke the connection on purpose.
            self.hung_up.set()
        except BaseException as fault:
            self.faults.append(fault)


def _read(connection: socket.socket, data: bytes) -> tuple[tuple[str, str, dict[str, str], bytes] | None, bytes]:
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None, b""
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", "0"))
    while len(rest) < length:
        more = connection.recv(65536)
        if not more:
            return None, b""
        rest += more
    method, path, _ = first.split(" ")
    return (method, path, headers, rest[:length]), rest[length:]


@contextmanager
def scripted(*scripts: Script) -> Iterator[ScriptedServer]:
    """A running server; what went wrong in a script fails the test."""
    server = ScriptedServer(*scripts)
    try:
        yield server
    finally:
        server.close()
    assert not server.faults, server.faults
