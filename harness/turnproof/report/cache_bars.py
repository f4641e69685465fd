"""The bars of a run about caching, as numbers for an inline SVG: one bar a turn, what was read at the bottom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .._base.counts import counted
from .cache_economics import RunEconomics, TurnEconomics

HEIGHT = 72
"""Of the highest bar; figures are in the units of the SVG, which are pixels."""

MARGIN = 2
"""Room above it: pieces that would be too thin to be seen are drawn thicker than they are."""

LABEL = 14
"""Room below the bars for what was done in front of a turn."""

BAR, STEP = 16, 22
"""The width of a bar, and from the left of one bar to the left of the next."""

_THINNEST = 1.0
"""The height of a piece that would be thinner."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar: `kind` is read, written, fresh, or again, which lies over the parts that were not read."""

    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One turn. `title` says its figures in words, `label` what was done in front of it."""

    x: int
    width: int
    pieces: tuple[Piece, ...]
    title: str
    label: str


@dataclass(frozen=True, slots=True)
class Bars:
    """All turns of a run, and the size of the picture."""

    width: int
    height: int
    bars: tuple[Bar, ...]
    title: str


def bars(run: RunEconomics) -> Bars:
    """A run's bars, in scale with each other."""
    highest = max((_prompt(turn) for turn in run.turns), default=0) or 1
    all_bars = tuple(_bar(place, turn, HEIGHT / highest) for place, turn in enumerate(run.turns))
    title = f"{run.scenario}, {run.path}: {counted(run.read, 'token')} read, {run.written} written, {run.fresh} fresh"
    return Bars(max(1, len(all_bars)) * STEP, MARGIN + HEIGHT + LABEL, all_bars, title)


def _bar(place: int, turn: TurnEconomics, scale: float) -> Bar:
    return Bar(place * STEP + 1, BAR, tuple(_pieces(turn, scale)), _title(turn), ", ".join(dict.fromkeys(turn.after)))


def _pieces(turn: TurnEconomics, scale: float) -> Iterator[Piece]:
    baseline = top = float(MARGIN + HEIGHT)
    for kind, tokens in (("read", turn.read), ("written", turn.written), ("fresh", turn.fresh)):
        if tokens:
            # What is there is seen, however little it is.
            height = max(_THINNEST, tokens * scale)
            top -= height
            yield Piece(kind, round(top, 1), round(height, 1))
    if turn.again:
        height = max(_THINNEST, turn.again * scale)
        yield Piece("again", round(baseline - turn.read * scale - height, 1), round(height, 1))


def _title(turn: TurnEconomics) -> str:
    calls = counted(turn.calls, "call")
    words = [f"turn {turn.turn}, {calls}: {turn.read} read, {turn.written} written, {turn.fresh} fresh"]
    words += [f"after {' and '.join(dict.fromkeys(turn.after))}"] if turn.after else []
    words += [f"{turn.again} paid again"] if turn.again else []
    return ", ".join(words)


def _prompt(turn: TurnEconomics) -> int:
    return turn.read + turn.written + turn.fresh
