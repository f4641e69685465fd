"""The API over WebSockets, through the SDK's own client of them: one response at a time on a socket.

A socket that has answered to the end is used again; one that was cut, was cancelled or said something that nobody can
read is not. What it holds in its memory is the last response alone, and nothing behind a request that failed.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2
import openai
from openai.resources.responses.responses import ResponsesConnection
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection

from ..._calling import Source
from ..._decoding import convert_to
from ..._http import CONNECT_TIMEOUT, Connection, is_loopback, shared_tls
from ..._interrupt import TcpLine, current_cut
from ..wire import Answer, Event, decode_event

LIFE_IS_OVER = "websocket_connection_limit_reached"
"""The code of the error with which the service ends a socket that has lived its hour."""

_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.INFO)
"""That of the library shows every header of a handshake, and with them the key, to whoever debugs."""

_MOST = 1 << 26
"""Bytes of a message at most, unpacked: pictures come within them."""

_CLOSING = 2.0
"""Seconds that the service has to say goodbye."""

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})

Send = Callable[["Socket"], None]
"""Sends a request over a socket, made for what that holds."""


class _Wire(ClientConnection):
    """A connection that a cancel can end, and that ends a call when the service is silent for too long."""

    def __init__(self, socket: Any, protocol: Any, *, silence: float, **options: Any) -> None:
        self.line = TcpLine(socket)
        self._silence = silence
        try:
            self._belongs_to_the_call(writes=False)
            super().__init__(socket, protocol, **options)
        except BaseException:
            self.line.close()
            raise
        self.pending_legacy_warning = False  # the SDK opens it as websockets 17 will do no more by default

    def send(self, *message: Any, **options: Any) -> None:
        self._belongs_to_the_call(writes=True)
        super().send(*message, **options)

    def recv(self, timeout: float | None = None, decode: bool | None = None) -> Any:
        return super().recv(self._silence if timeout is None else timeout, decode)

    def wait_for_its_threads(self) -> None:
        """Wait until the threads that read from it and keep it alive have seen its end."""
        for name in ("recv_events_thread", "keepalive_thread"):
            thread = getattr(self, name, None)
            if isinstance(thread, threading.Thread) and thread.ident is not None:
                thread.join(_CLOSING)

    def _belongs_to_the_call(self, *, writes: bool) -> None:
        if (cut := current_cut()) is not None:
            cut.use_line(self.line, writes=writes)
        else:
            self.line.belong_to(None)


class Socket:
    """One socket. `last` is the id of the response that its memory ends in."""

    def __init__(self, connection: ResponsesConnection, wire: _Wire) -> None:
        self.connection = connection
        self.last: str | None = None
        self._wire = wire

    @property
    def is_open(self) -> bool:
        """Whether a request can be sent, as far as it is known here."""
        return self._wire.state is State.OPEN

    def close(self) -> None:
        """Say goodbye, and end it."""
        with contextlib.suppress(WebSocketException, OSError):
            self.connection.close()
        self._wire.line.close()
        self._wire.wait_for_its_threads()

    def drop(self) -> None:
        """End it at once, whatever it is doing."""
        self._wire.line.end()
        self.close()


class Sockets:
    """The sockets of one provider. Thread-safe; each call has one to itself."""

    def __init__(self, client: openai.OpenAI, connection: Connection) -> None:
        self._client = client
        self._settings = connection
        self._idle: list[Socket] = []
        self._lock = threading.Lock()
        self._closed = False

    def answer(self, send: Send, receive: Callable[[Socket], Event]) -> Answer:
        """The whole answer to a request."""
        source = self.stream(send, receive)
        with contextlib.closing(source):
            for event in source.events:
                if event.type in _ENDS and event.response is not None:
                    return event.response
                if event.type == "error":
                    raise openai.APIError("the service failed", _ANY_REQUEST, body=_error_of(event))
        raise ConnectionError("the service ended the answer before its end")

    def stream(self, send: Send, receive: Callable[[Socket], Event]) -> Source[Event]:
        """The answer to a request as it comes, once its first event is there. Raises APIStatusError for a refusal."""
        try:
            return self._exchange(self._take(), send, receive)
        except openai.APIStatusError as error:
            if error.code != LIFE_IS_OVER:
                raise
        return self._exchange(self._open(), send, receive)

    def close(self) -> None:
        """Close those that nobody uses, and every other one as soon as it is done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for socket in idle:
            socket.close()

    def _exchange(self, socket: Socket, send: Send, receive: Callable[[Socket], Event]) -> Source[Event]:
        try:
            with _as_os_errors():
                send(socket)
                socket.last = None
                first = receive(socket)
            _raise_refusal(first)
        except openai.APIStatusError as error:
            self.put_back(socket) if error.code != LIFE_IS_OVER else socket.drop()
            raise
        except BaseException:
            socket.drop()
            raise
        answer = _Answer(self, socket, first, receive)
        return Source(answer.events(), answer.close)

    def _take(self) -> Socket:
        while True:
            with self._lock:
                socket = self._idle.pop() if self._idle else None
            if socket is None:
                return self._open()
            if socket.is_open:
                return socket
            socket.drop()

    def put_back(self, socket: Socket) -> None:
        """Have a socket that is free again."""
        with self._lock:
            if not self._closed:
                self._idle.append(socket)
                return
        socket.close()

    def _open(self) -> Socket:
        wires: list[_Wire] = []

        def create(*args: Any, **options: Any) -> _Wire:
            wires.append(_Wire(*args, silence=self._settings.silence, **options))
            return wires[-1]

        base_url = str(self._client.base_url)
        options: Any = {
            "create_connection": create,
            "open_timeout": min(self._settings.silence, CONNECT_TIMEOUT),
            "close_timeout": _CLOSING,
            "logger": _LOG,
            "compression": "deflate",
            "max_size": _MOST,
        }
        if is_loopback(base_url):
            options["proxy"] = None
        if urlsplit(base_url).scheme == "https":
            options["ssl"] = self._settings.tls or shared_tls()
        try:
            with _as_os_errors():
                connection = self._client.responses.connect(websocket_connection_options=options).enter()
        except BaseException:
            for wire in wires:
                wire.line.close()
            raise
        return Socket(connection, wires[-1])


class _Answer:
    """An answer on its way. Behind its last event the socket is free again; one that is left before that ends."""

    def __init__(self, sockets: Sockets, socket: Socket, first: Event, receive: Callable[[Socket], Event]) -> None:
        self._sockets = sockets
        self._socket = socket
        self._first = first
        self._receive = receive
        self._over = False

    def events(self) -> Iterator[Event]:
        """All events up to the last one of the answer."""
        for event in chain((self._first,), _received(self._socket, self._receive)):
            if event.type in _ENDS:
                answer = event.response
                self._socket.last = answer.id if answer is not None and event.type != "response.failed" else None
                self._over = True
                self._sockets.put_back(self._socket)
                yield event
                return
            _raise_refusal(event)
            yield event

    def close(self) -> None:
        """Wait no longer for what has not come."""
        if not self._over:
            self._over = True
            self._socket.drop()


def receive_typed(socket: Socket) -> Event:
    """The next event as the SDK reads it."""
    event = socket.connection.recv()
    if not isinstance(event, openai.BaseModel):
        raise ValueError(f"the service sent {type(event).__name__} where an object belongs")
    return convert_to(event.to_dict(warnings=False), Event)


def receive_bytes(socket: Socket) -> Event:
    """The next event by typed decoding of its bytes."""
    return decode_event(socket.connection.recv_bytes())


def _received(socket: Socket, receive: Callable[[Socket], Event]) -> Iterator[Event]:
    while True:
        with _as_os_errors():
            event = receive(socket)
        yield event


@contextlib.contextmanager
def _as_os_errors() -> Iterator[None]:
    """What the library of WebSockets raises, as what the SDK and the system raise for the same."""
    try:
        yield
    except InvalidStatus as error:
        response = error.response
        raise _status_error(response.status_code, dict(response.headers), _error_in(response.body)) from None
    except (WebSocketException, EOFError, httpcore2.NetworkError) as error:
        raise ConnectionError(f"{type(error).__name__}: {error}") from None


_ANY_REQUEST = httpx2.Request("GET", "wss://socket.invalid")
"""What the SDK's errors have to name, and nobody reads."""


def _status_error(status: int, headers: Mapping[str, str], error: Any) -> openai.APIStatusError:
    message = error.get("message") if isinstance(error, dict) else None
    response = httpx2.Response(status, headers=headers, request=_ANY_REQUEST)
    return openai.APIStatusError(str(message or f"status {status}"), response=response, body=error)


def _error_in(body: bytes | bytearray | None) -> Any:
    try:
        found = json.loads(body or b"")
    except (ValueError, RecursionError):
        return None
    return found.get("error", found) if isinstance(found, dict) else found


def _error_of(event: Event) -> Any:
    return event.error or {"code": event.code, "message": event.message}


def _raise_refusal(event: Event) -> None:
    """Raise APIStatusError for an error that has a status, as every refusal of a request has."""
    if event.type != "error" or not isinstance(event.status, int) or isinstance(event.status, bool):
        return
    error = _error_of(event)
    headers = error.get("headers") if isinstance(error, dict) else None
    headers_by_name = {str(name): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {}
    raise _status_error(event.status, headers_by_name, error)
