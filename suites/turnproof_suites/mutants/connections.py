"""Adapters that go to the wrong address, wait too long, or are bad at keeping connections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from turnproof.dialects.base import Call, Rendered
from turnproof.errors import TransportError
from turnproof.messages import Part, ProviderResponse, Text
from turnproof.provider import Endpoint, OnChunk, Path

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant
from ._rewriting import Rewriting


@suite_mutant("address-cut-at-the-host")
class AddressCutAtTheHost(Broken):
    """The base URL is cut after the host: requests go to whoever is there."""

    @classmethod
    def change_endpoint(cls, endpoint: Endpoint) -> Endpoint:
        scheme, _, rest = endpoint.base_url.partition("://")
        return replace(endpoint, base_url=f"{scheme}://{rest.partition('/')[0]}")


@suite_mutant("timeout-ignored")
class TimeoutIgnored(Broken):
    """The timeout is the adapter's own, of a minute, whatever was set."""

    @classmethod
    def change_endpoint(cls, endpoint: Endpoint) -> Endpoint:
        options = dict(endpoint.options)
        return replace(endpoint, options=options | {"timeout": 60.0} if "timeout" in options else options)


@suite_mutant("connection-per-call")
class ConnectionPerCall(Rewriting):
    """Each answer is the last one of its connection."""

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """The answer, which announces that its connection is closed."""
        return replace(rendered, headers={**rendered.headers, "connection": "close"})


@suite_mutant("idle-connection-trusted")
class IdleConnectionTrusted(Broken):
    """The connection of the first call is taken for the second one, which finds it closed and fails."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.calls = 0

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        self.calls += 1
        if self.calls == 2:
            raise TransportError("the server disconnected without sending a response")
        return proceed(inputs)


@suite_mutant("compressed-answer-garbled")
class CompressedAnswerGarbled(Broken):
    """The bytes of a compressed answer are taken for its text."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs.with_callback("on_chunk", lambda on_chunk: lambda piece: on_chunk(_packed(piece)))

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return changed(response, parts=tuple(map(_packed_part, response.parts)))


def _packed(text: str) -> str:
    return "\x1f\N{REPLACEMENT CHARACTER}" * len(text)


def _packed_part(part: Part) -> Part:
    return changed(part, text=_packed(part.text)) if isinstance(part, Text) else part


@suite_mutant("second-event-of-a-read-lost")
class SecondEventOfAReadLost(Broken):
    """Of the events that one read brings, the first text alone is taken."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        pieces: list[str] = []
        if inputs.on_chunk is None:
            return proceed(inputs)
        response = proceed(inputs.with_callback("on_chunk", lambda on_chunk: _first_of(pieces, on_chunk)))
        parts = tuple(changed(part, text=pieces[0]) if isinstance(part, Text) else part for part in response.parts)
        return changed(response, parts=parts)


def _first_of(pieces: list[str], on_chunk: OnChunk) -> OnChunk:
    def pass_on(piece: str) -> None:
        if not pieces:
            on_chunk(piece)
        pieces.append(piece)

    return pass_on
