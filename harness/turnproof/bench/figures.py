"""From the times of all cases to figures and ratios. Pure: no clock, no adapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from .conversations import DELTAS
from .report import Figure, Ratio, Time
from .timing import Case, Series, series, slope

Key: TypeAlias = tuple[Figure, str, int]
"""What was measured, of whom, with how many messages of history."""

PATHS = ("stateless", "legacy")


def figures(cases: Sequence[Case]) -> dict[Key, Series]:
    """All figures of the cases that did not fail, shortest history first."""
    found: dict[Key, Series] = {}
    by_kind = {(case.kind, case.name, case.messages): case for case in cases if case.failure is None}
    for (kind, name, messages), case in sorted(by_kind.items(), key=lambda item: item[0][2]):
        if kind == "long-stream":
            if (short := by_kind.get(("stream", name, messages))) is not None:
                found["delta", name, messages] = slope(case.whole, short.whole, DELTAS)
            continue
        found[kind, name, messages] = series(case.whole)
        if kind == "stream":
            found["first-delta", name, messages] = series(case.first)
    return found


def times(found: Mapping[Key, Series]) -> Iterator[Time]:
    """The figures as they are reported."""
    for (figure, name, messages), taken in found.items():
        yield Time(figure, name, messages, taken.best, taken.rounds)


def ratios(found: Mapping[Key, Series], plain: Sequence[str]) -> Iterator[Ratio]:
    """What each figure of a path is compared with: each plain call, the legacy path, and the shortest history."""
    for figure, name, messages in found:
        if name not in PATHS:
            continue
        for other in plain:
            theirs: Figure = "turn" if figure in ("collect", "restore") else figure
            yield from _ratio(found, (figure, name, messages), (theirs, other, messages))
        if name == "stateless":
            yield from _ratio(found, (figure, name, messages), (figure, "legacy", messages))
        shortest = min(at for one, whose, at in found if (one, whose) == (figure, name))
        if messages != shortest:
            yield from _ratio(found, (figure, name, messages), (figure, name, shortest))


def _ratio(found: Mapping[Key, Series], of: Key, to: Key) -> Iterator[Ratio]:
    """One ratio; none where the other side was not measured, or came out as nothing in the noise."""
    if to not in found:
        return
    mine, theirs = found[of], found[to]
    quotients = [one / other for one, other in zip(mine.rounds, theirs.rounds, strict=True) if other > 0]
    if theirs.best > 0 and quotients:
        yield Ratio(*of, to[1], to[2], mine.best / theirs.best, min(quotients), max(quotients))
