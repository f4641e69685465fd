"""What a cassette is in memory: complete exchanges of one scenario, and where they come from.

Its form as text is the business of `codec`, its place on disk that of `store`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

FORMAT = 1
"""The newest format of `metadata.turnproof` that this version reads, and the one it writes."""

Provenance: TypeAlias = Literal["emulated", "live"]

Place: TypeAlias = tuple[int, int]
"""Turn of the scenario, and number of tool-result rounds since its user message; both from 0."""


class RecordedRequest(msgspec.Struct, frozen=True):
    """A request after scrubbing. `uri` is the provider's real one, whoever answered."""

    method: str
    uri: str
    headers: dict[str, str]
    body: bytes


class RecordedResponse(msgspec.Struct, frozen=True):
    """A complete response after scrubbing, its body not compressed."""

    status: int
    headers: dict[str, str]
    body: bytes


class Interaction(msgspec.Struct, frozen=True):
    """One complete exchange.

    `digest` is that of the request's canonical form (`match.digest`). `offsets` are the inner cuts of the response
    body, ascending: where its second, third, ... chunk begins. `stream` says that the request asked for a stream,
    `extra` that no script speaks of this kind of request (token counts, model lists).
    """

    request: RecordedRequest
    response: RecordedResponse
    turn: int
    round: int
    digest: str
    offsets: tuple[int, ...] = ()
    stream: bool = False
    extra: bool = False

    @property
    def place(self) -> Place:
        """Where in the conversation it was recorded."""
        return self.turn, self.round

    @property
    def chunks(self) -> tuple[bytes, ...]:
        """The response body in the pieces in which it was recorded; joined, they are the body."""
        body = self.response.body
        starts = (0, *self.offsets)
        ends = (*self.offsets, len(body))
        return tuple(body[start:end] for start, end in zip(starts, ends, strict=True))


class Cassette(msgspec.Struct, frozen=True):
    """The exchanges of one scenario with one adapter. `date` is ISO 8601, the day of the recording.

    `contributor` says who made it, where that decides something (in a census).
    """

    adapter: str
    scenario: str
    dialect: str
    model: str
    recorded: Provenance
    date: str
    interactions: tuple[Interaction, ...] = ()
    contributor: str = ""

    @property
    def provenance(self) -> str:
        """What a claim that rests on a replay may say of itself, and no more."""
        return "recorded from emulated" if self.recorded == "emulated" else f"recorded from live, {self.date}"


def offsets_of(chunks: Sequence[bytes]) -> tuple[int, ...]:
    """What `Interaction.offsets` keeps for a body that came in these chunks; empty chunks leave no trace."""
    cuts: list[int] = []
    position = 0
    for chunk in chunks:
        if chunk and position:
            cuts.append(position)
        position += len(chunk)
    return tuple(cuts)


def how_to_record(adapter: str, scenario: str) -> str:
    """The command that makes this cassette anew; every complaint about a cassette ends with it."""
    return f"turnproof record {adapter} --only {scenario}"
