"""The HTTP client of the framework."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx


class ServiceError(Exception):
    """A request failed. `status` is 0 where nobody answered, and `kind` is the service's own word."""

    def __init__(self, message: str, status: int = 0, kind: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status, self.kind, self.retry_after = status, kind, retry_after

    @property
    def transient(self) -> bool:
        """Whether another attempt may be answered."""
        return self.status in (0, 408, 409, 429) or self.status >= 500


class StopSign:
    """Stops what is under way, from any thread."""

    def __init__(self) -> None:
        self.up = False
        self._response: httpx.Response | None = None
        self._lock = threading.Lock()

    def raise_it(self) -> None:
        with self._lock:
            self.up = True
            if self._response is not None:
                _hang_up(self._response)

    def watch(self, response: httpx.Response | None) -> None:
        """Which answer ends when the sign goes up."""
        with self._lock:
            self._response = response
            if self.up and response is not None:
                _hang_up(response)


def _hang_up(response: httpx.Response) -> None:
    connection = response.extensions["network_stream"].get_extra_info("socket")
    with contextlib.suppress(OSError):  # it has ended by itself
        connection.shutdown(socket.SHUT_RDWR)


class Service:
    """One service with one key."""

    def __init__(self, base_url: str, key: str) -> None:
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        self._client = httpx.Client(base_url=base_url, headers=headers, timeout=30.0)

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The whole answer to a request. Raises ServiceError."""
        try:
            response = self._client.post(path, json=body)
        except httpx.HTTPError as error:
            raise ServiceError(f"{type(error).__name__}: {error}") from error
        _check(response)
        return _parsed(response.content)

    def events(self, path: str, body: dict[str, Any], stop: StopSign) -> Iterator[dict[str, Any]]:
        """The events of a streamed answer, until it ends or the sign goes up. Raises ServiceError."""
        try:
            with self._client.stream("POST", path, json={**body, "stream": True}) as response:
                stop.watch(response)
                if response.status_code != 200:
                    response.read()
                _check(response)
                for line in response.iter_lines():
                    if stop.up:
                        return
                    if line.startswith("data:"):
                        yield _parsed(line.removeprefix("data:").encode())
        except httpx.HTTPError as error:
            if not stop.up:
                raise ServiceError(f"{type(error).__name__}: {error}") from error
        finally:
            stop.watch(None)

    def close(self) -> None:
        self._client.close()


def _check(response: httpx.Response) -> None:
    if response.status_code == 200:
        return
    try:
        details = response.json()["error"]
        message, kind = str(details["message"]), str(details["type"])
    except (ValueError, KeyError, TypeError):
        message, kind = response.text[:200], ""
    wait = response.headers.get("retry-after", "")
    raise ServiceError(message, response.status_code, kind, float(wait) if wait.isdigit() else None)


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ServiceError(f"the service's answer is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ServiceError("the service's answer is no object")
    return found
