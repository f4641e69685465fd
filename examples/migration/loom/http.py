"""Requests that can be stopped while they wait."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit


class ModelError(Exception):
    """The service refused, or was not heard (`status` 0). `retry_after` is in seconds."""

    def __init__(self, status: int, text: str, code: str = "", retry_after: float | None = None) -> None:
        super().__init__(text)
        self.status, self.code, self.retry_after = status, code, retry_after


class Stop:
    """A stop button. Pressing it wakes the request that waits."""

    def __init__(self) -> None:
        self._pressed = threading.Event()
        self._socket: socket.socket | None = None

    @property
    def pressed(self) -> bool:
        return self._pressed.is_set()

    def press(self) -> None:
        self._pressed.set()
        if (waiting := self._socket) is not None:
            with suppress(OSError):  # it was closed already
                waiting.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def closes(self, waiting: socket.socket) -> Iterator[None]:
        self._socket = waiting
        try:
            yield
        finally:
            self._socket = None


class Http:
    """POSTs JSON to one service."""

    def __init__(self, base_url: str, headers: dict[str, str]) -> None:
        self._url = urlsplit(base_url)
        self._headers = {"content-type": "application/json", **headers}

    def whole(self, path: str, body: dict[str, Any], stop: Stop) -> dict[str, Any] | None:
        """The answer; None if it was stopped."""
        with self._response(path, body, stop) as response:
            try:
                found = json.loads(response.read())
            except Exception as error:
                if stop.pressed:
                    return None
                raise ModelError(0, f"the answer broke off: {error}") from error
        return found if isinstance(found, dict) else {}

    def events(self, path: str, body: dict[str, Any], stop: Stop) -> Iterator[dict[str, Any]]:
        """The events of a streamed answer, as far as they come before it is stopped."""
        with self._response(path, {**body, "stream": True}, stop) as response:
            try:
                for data in _data(response):
                    yield {"type": "done"} if data == "[DONE]" else json.loads(data)
            except (OSError, ValueError, http.client.HTTPException) as error:
                if not stop.pressed:
                    raise ModelError(0, f"the stream broke off: {error}") from error

    @contextmanager
    def _response(self, path: str, body: dict[str, Any], stop: Stop) -> Iterator[http.client.HTTPResponse]:
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=30)
        try:
            connection.connect()
            assert connection.sock is not None
            with stop.closes(connection.sock):
                connection.request("POST", self._url.path + path, json.dumps(body), self._headers)
                response = connection.getresponse()
                if response.status != 200:
                    raise _refused(response)
                yield response
        except (OSError, http.client.HTTPException) as error:
            raise ModelError(0, f"the service was not heard: {error}") from error
        finally:
            connection.close()


def _data(response: http.client.HTTPResponse) -> Iterator[str]:
    """The data of each event, in however many lines, and whatever ends a line."""
    decoder, rest, lines = getincrementaldecoder("utf-8-sig")("replace"), "", list[str]()
    while piece := response.read1():
        # A CR at the end may be half of a CRLF.
        *whole, rest = re.split(r"\r\n|\n|\r(?!$)", rest + decoder.decode(piece))
        for line in whole:
            if line.startswith("data:"):
                lines.append(line[5:].strip())
            elif not line and lines:
                yield "\n".join(lines)
                lines = []
    if rest.startswith("\r") and lines:
        yield "\n".join(lines)


def _refused(response: http.client.HTTPResponse) -> ModelError:
    text = response.read().decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        message, code = str(error["message"]), str(error.get("code") or error.get("type") or "")
    except (ValueError, KeyError, TypeError):
        message, code = text, ""
    wait = response.headers.get("retry-after", "")
    return ModelError(response.status, message, code, float(wait) if wait.isdigit() else None)
