"""Stopping a call that blocks in a read: its connection is shut down from the thread that cancels.

Closing an SDK stream or a response from another thread does not wake a blocked `recv`; `shutdown` on the socket does.
The socket is needed from the first moment, while connecting and before any header of an answer, so it is caught where
it is made: in the network backend of the HTTP client's connection pool. A `Cut` in force in the calling thread takes
hold of each connection that the thread opens or writes to.

A connection is shut down through a duplicate of its socket. The duplicate stays valid when TLS takes the original over,
and can be used while another thread closes the original, without the risk of hitting a reused descriptor.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore2
import httpx2
from httpcore2._backends.sync import SyncStream

_in_force = threading.local()

_OPTIONS = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    # As the SDK's own client does: a long silence is a model at work, and routers on the way must not forget it.
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5))
        if hasattr(socket, name)
    ),
]
"""Options of every connection."""


class CutOff(httpcore2.NetworkError):
    """The call was cancelled before this could be done on the network."""


class Line(ABC):
    """What a call goes over, and what is ended with it: a connection, or a program that does the asking.

    It belongs to the call that used it last.
    """

    def __init__(self) -> None:
        self._owner: Cut | None = None
        self._lock = threading.Lock()

    def belong_to(self, cut: Cut | None) -> None:
        """From now on only this call may end it; without one, none."""
        with self._lock:
            self._owner = cut

    def shut(self, by: Cut) -> None:
        """End it, unless another call has it by now."""
        with self._lock:
            if self._owner is by:
                self._end_from_outside()

    @abstractmethod
    def _end_from_outside(self) -> None:
        """End it, whatever thread waits for it; the lock is held."""


class Cut:
    """The power to end one call. `fire` may be called from any thread, at any time, more than once."""

    PATIENCE = 0.25
    """Seconds given to a service to end a body that has said all."""

    def __init__(self) -> None:
        self.fired = False
        self.written = False
        self.patience: float | None = None
        self._lock = threading.Lock()
        self._line: Line | None = None

    def fire(self) -> None:
        """End the call: whatever it waits for on its connection fails at once."""
        with self._lock:
            self.fired = True
            if self._line is not None:
                self._line.shut(self)

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Everything this thread does on the network meanwhile belongs to this call."""
        before = getattr(_in_force, "cut", None)
        _in_force.cut = self
        try:
            yield
        finally:
            _in_force.cut = before

    def be_brief(self) -> None:
        """The answer is complete: wait for the end of the body only as long as it takes to keep the connection."""
        self.patience = self.PATIENCE

    def use_line(self, line: Line, *, writes: bool) -> None:
        """The call goes on over this connection. Raises CutOff if it was ended before its request was written.

        `writes` says that this is the request itself, not the way to where it can be sent.
        """
        if writes and self.written and self._line is line:
            return
        with self._lock:
            if self.fired and not (writes and self.written):
                raise CutOff("cancelled")
            line.belong_to(self)
            self._line = line
            self.written = writes


def current_cut() -> Cut | None:
    """That of the call in which the calling thread is, if any."""
    cut: Cut | None = getattr(_in_force, "cut", None)
    return cut


class TcpLine(Line):
    """One TCP connection, whatever is layered on it."""

    def __init__(self, original: socket.socket) -> None:
        super().__init__()
        # Not `dup()`: a socket of TLS has none.
        self._socket = socket.fromfd(original.fileno(), original.family, original.type)

    def _end_from_outside(self) -> None:
        # Both directions. Not connected, or closed already: then nothing waits on it either.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """End the connection, whatever waits for it."""
        with self._lock:
            self._end_from_outside()

    def close(self) -> None:
        """Hold the connection no longer, open or not."""
        with self._lock:
            self._socket.close()


class _Stream(httpcore2.NetworkStream):
    """A stream that tells the call in force which connection it writes to."""

    def __init__(self, inner: httpcore2.NetworkStream, line: TcpLine) -> None:
        self._inner = inner
        self._line = line

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        cut = current_cut()
        if cut is not None and cut.patience is not None:
            timeout = cut.patience if timeout is None else min(timeout, cut.patience)
        return self._inner.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        cut = current_cut()
        if cut is not None:
            # Asking a proxy for a tunnel is not the request yet.
            cut.use_line(self._line, writes=not buffer.startswith(b"CONNECT "))
        else:
            self._line.belong_to(None)
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()
        self._line.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        try:
            return _Stream(self._inner.start_tls(ssl_context, server_hostname, timeout), self._line)
        except BaseException:
            self.close()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    """Opens connections that a cut can take hold of, from before the first packet."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> _Stream:
        cut = current_cut()
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        failure: Exception = httpcore2.ConnectError(f"no address for {host!r}")
        for family, kind, protocol, _, address in addresses:
            try:
                return _connect(cut, (family, kind, protocol, address), timeout, local_address, socket_options or ())
            except TimeoutError as error:
                failure = httpcore2.ConnectTimeout(str(error))
            except OSError as error:
                failure = httpcore2.ConnectError(str(error))
        raise failure

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _connect(
    cut: Cut | None,
    address: tuple[Any, Any, Any, Any],
    timeout: float | None,
    local_address: str | None,
    options: Iterable[Any],
) -> _Stream:
    family, kind, protocol, peer = address
    connection = socket.socket(family, kind, protocol)
    line = TcpLine(connection)
    try:
        for option in (*_OPTIONS, *options):
            connection.setsockopt(*option)
        connection.settimeout(timeout)
        if local_address is not None:
            connection.bind((local_address, 0))
        if cut is not None:
            cut.use_line(line, writes=False)
        connection.connect(peer)
    except BaseException:
        connection.close()
        line.close()
        raise
    return _Stream(SyncStream(connection), line)


def make_cuttable(client: httpx2.Client) -> httpx2.Client:
    """Let calls over this client, through a proxy or not, be ended by a `Cut`. Other transports are left alone.

    httpx2 has no public way to choose the backend of the pool it makes, and a transport of our own would miss what
    recorders and mocks do to its own.
    """
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = _Backend()
    return client
