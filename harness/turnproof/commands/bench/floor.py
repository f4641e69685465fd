"""The floor: what a turn costs where nothing is converted, checked or typed.

The very bytes that a plain call sent are posted with httpx2, which the SDKs sit on. A reply in one piece is read with
`Response.json()`, a streamed one line by line, with `json.loads` for each event. An adapter that streams behind the
scenes gets a stream for an answer in one piece, too; the floor adds it up.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, TypeAlias

from ...errors import ProviderError
from ...provider import OnChunk
from ...run.driver.providers import shared_ssl_context
from .canned_provider import Sent
from .conversations import Answer

FLOOR = "floor.httpx2"
"""The caller's name in every table."""

FLOOR_PACKAGE = "httpx2"

_Place: TypeAlias = tuple[str | int, ...]
"""Where in a JSON value something stands."""


def has_floor() -> bool:
    """Whether httpx2 is installed."""
    return find_spec(FLOOR_PACKAGE) is not None


class Floor:
    """One request, again and again; see `turnproof.provider.PlainCall`.

    Where the text of an answer stands is found out beforehand, by looking for the one that the server gives.
    """

    def __init__(self, request: Sent, answer: Answer, tls: ssl.SSLContext | None = None) -> None:
        # turnproof comes without an HTTP client.
        import httpx2

        self._url, self._body = request.url, request.body
        self._client = httpx2.Client(
            verify=tls or shared_ssl_context(),
            # A proxy of the environment would stand between us and loopback.
            trust_env=False,
            headers={"content-type": "application/json"},
            # Of the SDKs' size: a crowd shares one client.
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
            timeout=600,
        )
        self._in_events = answer.streamed or self._is_answered_in_events()
        replies = list(self._events()) if self._in_events else [self._client.post(self._url, content=self._body).json()]
        text = answer.pieces[0] if self._in_events else answer.text
        found = next((place for reply in replies if (place := _place_of(text, reply)) is not None), None)
        if found is None:
            self.close()
            raise ProviderError(f"the answer {text!r:.60} is nowhere in the server's reply")
        self._place = found

    def ready(self) -> None:
        """Every call sends the same bytes."""

    def ask(self) -> str:
        """The text of one answer."""
        if self._in_events:
            pieces: list[str] = []
            self.stream(pieces.append)
            return "".join(pieces)
        return str(_at(self._place, self._client.post(self._url, content=self._body).json()))

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        place = self._place
        for event in self._events():
            try:
                piece = _at(place, event)
            except (KeyError, IndexError, TypeError):
                continue
            on_chunk(piece)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _is_answered_in_events(self) -> bool:
        reply = self._client.post(self._url, content=self._body)
        return reply.headers.get("content-type", "").startswith("text/event-stream")

    def _events(self) -> Iterator[Any]:
        with self._client.stream("POST", self._url, content=self._body) as response:
            for line in response.iter_lines():
                if line.startswith("data:") and not line.endswith("[DONE]"):
                    yield json.loads(line[5:])


def _at(place: _Place, value: Any) -> Any:
    for step in place:
        value = value[step]
    return value


def _place_of(text: str, value: Any) -> _Place | None:
    """Where the text stands first; None if nowhere."""
    if value == text:
        return ()
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        if (rest := _place_of(text, child)) is not None:
            return (step, *rest)
    return None
