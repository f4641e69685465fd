"""Two transcripts as two columns: turn by turn, what happened on each side in rows that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from msgspec.structs import replace

from ..run.transcript import Transcript, WireRequest
from .conversation import Entry, conversation


@dataclass(frozen=True, slots=True)
class Row:
    """What stands in one line; None where a side has no counterpart. `same` says that both read alike."""

    left: Entry | None
    right: Entry | None

    @property
    def same(self) -> bool:
        return self.left is not None and self.left.reads_like(self.right)


@dataclass(frozen=True, slots=True)
class TurnRows:
    """One turn of both sides, -1 for what belongs to no turn. `requests` counts what each side sent."""

    turn: int
    requests: tuple[int, int]
    rows: tuple[Row, ...]

    @property
    def same(self) -> bool:
        """Whether every row reads alike on both sides."""
        return all(row.same for row in self.rows)


def side_by_side(left: Transcript | None, right: Transcript | None) -> list[TurnRows]:
    """The turns in order; what probes did after the conversation is left out. A side may be missing."""
    one, other = _by_turn(left), _by_turn(right)
    return [_turn(turn, one.get(turn), other.get(turn)) for turn in sorted({*one, *other}, key=_order)]


def _by_turn(transcript: Transcript | None) -> Mapping[int, Transcript]:
    if transcript is None:
        return {}
    events = sorted((event for event in transcript.events if not event.probe), key=lambda event: event.turn)
    return {
        turn: replace(transcript, events=tuple(group)) for turn, group in groupby(events, key=lambda event: event.turn)
    }


def _order(turn: int) -> tuple[bool, int]:
    """What belongs to no turn is told last: it is how the run ended."""
    return turn < 0, turn


def _turn(turn: int, left: Transcript | None, right: Transcript | None) -> TurnRows:
    one, other = (conversation(side) if side is not None else [] for side in (left, right))
    sent = tuple(len(side.of(WireRequest)) if side is not None else 0 for side in (left, right))
    return TurnRows(turn, (sent[0], sent[1]), tuple(_rows(one, other)))


def _rows(left: Sequence[Entry], right: Sequence[Entry]) -> Iterator[Row]:
    matcher = SequenceMatcher(
        None, [_entry_key(entry) for entry in left], [_entry_key(entry) for entry in right], autojunk=False
    )
    for tag, start, stop, begin, end in matcher.get_opcodes():
        if tag == "equal":
            yield from (Row(*pair) for pair in zip(left[start:stop], right[begin:end], strict=True))
        else:
            yield from (Row(entry, None) for entry in left[start:stop])
            yield from (Row(None, entry) for entry in right[begin:end])


def _entry_key(entry: Entry) -> tuple[str, str]:
    """What makes two lines counterparts: who acts, and the beginning of what is done."""
    return entry.side, " ".join(entry.label.split()[:2])
