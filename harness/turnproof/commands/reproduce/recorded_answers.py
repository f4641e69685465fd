"""What the emulator answered in a provider call, as the file's server repeats it: the same bytes, the same end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from ...run.transcript import Transcript, WireRequest, WireResponse
from ...wire.emulator.answer_writer import awkward_pieces

End = Literal["end", "cut", "reset", "stall"]
"""How an answer ends: as HTTP ends one, by a socket that is closed in the middle, by a reset, or by silence."""

_EVENT = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)

_HOP_BY_HOP = frozenset(("connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"))


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer. `pieces` are the writes that it consists of, `method` is that of the request it answers.

    Where a piece is None the server cancels the turn, and waits for the client to leave before it goes on.
    """

    status: int
    headers: dict[str, str]
    pieces: tuple[bytes | None, ...]
    end: End
    method: str = "POST"

    @property
    def is_held(self) -> bool:
        """Whether the server cancels the turn while it gives this answer."""
        return None in self.pieces


def exchanges_of(transcript: Transcript, call: int, probe: str) -> list[WireRequest]:
    """The requests of a provider call, in order."""
    found = [one for one in transcript.of(WireRequest) if (one.call, one.probe) == (call, probe)]
    return sorted(found, key=lambda one: one.exchange)


def opening_exchanges(transcript: Transcript, call: int, probe: str) -> list[WireRequest]:
    """The requests that opening the object sent, on which this call was made: those of no call, ahead of all calls.

    Libraries ask for the model's facts then, and the legacy path may make a cache.
    """
    every = sorted((one for one in transcript.of(WireRequest) if one.probe == probe), key=lambda one: one.exchange)
    return list(takewhile(lambda one: one.call < 0, every)) if call >= 0 else []


def answers_of(transcript: Transcript, requests: list[WireRequest]) -> tuple[RecordedAnswer, ...]:
    """The answers to these requests. One that was held back until the client left ends with silence."""
    responses = {one.exchange: one for one in transcript.of(WireResponse)}
    return tuple(_answer(responses[one.exchange], one.method) for one in requests if one.exchange in responses)


def held_answer(answer: RecordedAnswer, response: WireResponse) -> RecordedAnswer:
    """An answer with its hold: where the run cancelled the turn while the server was silent."""
    before = response.written - response.events_after_cancel
    if before and before > len(answer.pieces):
        raise LookupError(f"the cancel came behind event {before}, and the answer has {len(answer.pieces)}")
    first = answer.pieces[:before]
    if response.fault == "merged":  # they came in one write
        first = (b"".join(piece for piece in first if piece is not None),)
    return replace(answer, pieces=(*first, None, *answer.pieces[before:]))


def _answer(response: WireResponse, method: str) -> RecordedAnswer:
    headers = {name: value for name, value in response.headers.items() if name.lower() not in _HOP_BY_HOP}
    pieces = tuple(_pieces(response))
    return RecordedAnswer(response.status, headers, pieces, _end(response), method)


def _end(response: WireResponse) -> End:
    if response.ended == "timed-out" or (response.held and response.ended == "cut-by-peer"):
        return "stall"
    if response.fault in ("reset", "refuse-connection") and response.ended == "cut-by-us":
        return "reset"
    return "cut" if response.fault == "truncate" and response.ended == "cut-by-us" else "end"


def _pieces(response: WireResponse) -> Iterator[bytes]:
    data = response.bytes_sent
    if response.fault == "split":
        return awkward_pieces(data)
    if response.fault == "drip":
        return (data[at : at + 1] for at in range(len(data)))
    return _events(data)


def _events(data: bytes) -> Iterator[bytes]:
    """The bytes of a stream event by event, as far as blank lines tell them apart."""
    return (found[0] for found in _EVENT.finditer(data) if found[0])
