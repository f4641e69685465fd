"""Recorded traffic of a real API, read and sent by its adapter. The dialect is a second reader that shares no code.

`tests/adapters/NAME/recorded_traffic.py` has one `RecordedTraffic` per adapter of which there are recordings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import httpx2
from recordings.apis import Api
from recordings.material import Exchange
from shared_material import recordings_dir

from turnproof.dialects.base import Call, HttpRequest, WireAnswer, WireDifference, World
from turnproof.dialects.contract import Dialect
from turnproof.errors import ContentFilterError, ProviderError, TransportError
from turnproof.messages import Message, Part, ProviderResponse, Text, ToolSchema

from ..callback_recorder import CallbackRecorder
from .adapter_kit import PATHS, AdapterKit, OpenedPath, RequestRecorder
from .wire_parts import text

URL = "http://example.invalid"


class RecordedTraffic(ABC):
    """What was recorded of one API, and how its adapter is compared with it."""

    kit: AdapterKit
    dialect: Dialect
    """Reads what the adapter sends."""
    apis: Sequence[Api]
    """The services of which there are recordings, each with the dialect that reads its answers."""
    answers: int
    """At least so many recorded answers are read, ..."""
    conversations: int
    """... so many recorded conversations are sent, and ..."""
    returned_answers: int
    """... so many answers go back with the next request."""

    @abstractmethod
    def takes(self, exchange: Exchange) -> bool:
        """Whether an exchange is one that the adapter could have had."""

    @abstractmethod
    def model(self, exchange: Exchange) -> str:
        """The model that was asked."""

    @abstractmethod
    def comparable(self, parts: Sequence[Part]) -> list[Any]:
        """What of an answer's parts both readers have a form for."""

    def is_streamed(self, exchange: Exchange) -> bool:
        """Whether the answer was asked for as a stream."""
        return exchange.streamed

    def options(self, exchange: Exchange) -> dict[str, Any]:
        """The settings of the provider that reads or sends an exchange."""
        return {}

    def is_sendable(self, exchange: Exchange, call: Call) -> bool:
        """Whether a recorded conversation is one that a session could have held."""
        return True

    def is_returnable(self, response: ProviderResponse) -> bool:
        """Whether an answer can be gone on from."""
        return bool(self.comparable(response.parts))

    def is_made_up(self, difference: WireDifference) -> bool:
        """Whether a difference is that of an id which the adapter made up, and does not send."""
        return False

    @cached_property
    def exchanges(self) -> list[tuple[Api, Exchange]]:
        return [
            (api, exchange)
            for api in self.apis
            for recording in api.recordings(recordings_dir())
            for exchange in recording.exchanges
            if self.takes(exchange)
        ]

    def readings(self, exchange: Exchange) -> Iterator[ProviderResponse | ProviderError]:
        """What each path makes of a recorded answer."""
        transport = httpx2.MockTransport(
            lambda _: httpx2.Response(exchange.status, headers=dict(exchange.headers), content=exchange.body)
        )
        for path in PATHS:
            options = {"transport": transport, "model": self.model(exchange), **self.options(exchange)}
            opened, recorder = OpenedPath(self.kit, path, URL, **options), CallbackRecorder()
            try:
                response = opened.stream(recorder) if self.is_streamed(exchange) else opened.batch()
            except ProviderError as failure:
                yield failure
            else:
                if self.is_streamed(exchange):
                    assert recorder.text == response.text
                    assert recorder.calls == list(response.calls)
                yield response

    def agrees(self, reading: ProviderResponse | ProviderError, answer: WireAnswer) -> bool:
        """Whether the adapter reads in an answer what the dialect reads in it."""
        if answer.error_kind is not None or answer.error_message is not None or answer.status >= 400:
            return (
                isinstance(reading, ProviderError)
                and (reading.kind, reading.status) == (answer.error_kind, answer.status)
                and (answer.error_message or "").strip() in ("", reading.message)
                and answer.retry_after in (None, reading.retry_after)
            )
        if not answer.complete:
            return isinstance(reading, TransportError)
        if isinstance(reading, ContentFilterError):
            return (reading.kind, answer.parts) == (answer.raw_finish, ())
        return isinstance(reading, ProviderResponse) and (
            self.comparable(reading.parts),
            reading.usage,
            reading.finish_reason,
            reading.raw_finish,
        ) == (self.comparable(answer.parts), answer.usage or reading.usage, answer.finish, answer.raw_finish)

    def recorded_call(self, api: Api, exchange: Exchange) -> Call | None:
        """The recorded conversation, where it is one that a session could have held."""
        call = api.dialect.parse(exchange.request, self._world)
        if not isinstance(call, Call) or exchange.status != 200 or call.model is None:
            return None
        return call if self.is_sendable(exchange, call) else None

    def differences(
        self, exchange: Exchange, history: Sequence[Message], system: str = "", tools: Sequence[ToolSchema] = ()
    ) -> list[WireDifference]:
        """Where the request that the adapter makes of a conversation says something else."""
        call = self._sent(exchange, history, system, tools)
        return list(self.dialect.differences(history, system, tools, call, self.model(exchange)))

    def _sent(self, exchange: Exchange, history: Sequence[Message], system: str, tools: Sequence[ToolSchema]) -> Call:
        """What the adapter puts on the wire, read by the dialect."""
        recorder = RequestRecorder(self.kit.answer(text("hi")), self.kit.stream(text("hi")))
        options = {"transport": recorder.transport, "model": self.model(exchange), **self.options(exchange)}
        self.kit.open("stateless", URL, **options).complete(history, system, tools)
        (request,) = recorder.requests
        read = HttpRequest("POST", request.url.path, {}, dict(request.headers), bytes(request.content))
        call = self.dialect.parse(read, self._world)
        assert isinstance(call, Call), call
        return call

    @property
    def _world(self) -> World:
        return World.with_any_key(self.dialect.models)


def system_text(call: Call) -> str:
    """The system text of a recorded request."""
    return "\n".join(part.text for part in call.system if isinstance(part, Text))
