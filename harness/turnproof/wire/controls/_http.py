"""One request over HTTP and its answer, with nothing but the standard library."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ...cancel import CancelToken
from ...errors import TransportError

T = TypeVar("T")


class Line:
    """A connection for one request. Setting the token shuts its socket down, which wakes whoever reads from it."""

    def __init__(self, base_url: str, timeout: float, token: CancelToken) -> None:
        self._url = urlsplit(base_url)
        self._connection = HTTPConnection(self._url.hostname or "", self._url.port, timeout=timeout)
        self._token = token
        self._forget: Callable[[], None] = lambda: None
        self._answer: HTTPResponse | None = None

    def ask(self, path: str, headers: Mapping[str, str], body: Any) -> HTTPResponse:
        """Send the request; the answer's head. Raises Cancelled if nothing was sent, TransportError if none came."""
        self._token.raise_if_cancelled()
        self._reading(self._connection.connect)
        sock: socket.socket = self._connection.sock
        self._forget = self._token.on_cancel(lambda: _shut(sock))
        sent_headers = {"content-type": "application/json", **headers}
        self._reading(
            lambda: self._connection.request("POST", f"{self._url.path}{path}", json.dumps(body).encode(), sent_headers)
        )
        self._answer = self._reading(self._connection.getresponse)
        return self._answer

    def document(self) -> Any:
        """The whole answer as JSON."""
        assert self._answer is not None
        return _parsed(self._reading(self._answer.read))

    def documents(self) -> Iterator[Any]:
        """The data of each event of a stream, or of each line of one that is made of lines, until the body ends.

        An end marker that is no JSON is an empty document; the body is then read to its end.
        """
        assert self._answer is not None
        data = b""
        while line := self._reading(self._answer.readline):
            if line == b"data: [DONE]\n":
                self._reading(self._answer.read)
                yield {}
            elif line.startswith(b"{"):
                yield _parsed(line)
            elif line.startswith(b"data:"):
                data += line.removeprefix(b"data:")
            elif data and not line.strip():
                yield _parsed(data)
                data = b""

    def close(self) -> None:
        """Close the connection."""
        self._forget()
        self._connection.close()

    def _reading(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except (OSError, HTTPException) as error:
            raise TransportError(f"the connection failed: {error!r}") from error


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise TransportError(f"the service sent something that is not JSON: {error}") from error


def _shut(sock: socket.socket) -> None:
    with suppress(OSError):  # it may be closed already
        sock.shutdown(socket.SHUT_RDWR)
