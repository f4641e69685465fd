"""From the times of all cases to figures and ratios. Pure: no clock, no adapter."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...provider import PATHS
from .concurrent_sessions import SESSIONS
from .conversations import DELTAS
from .floor import FLOOR
from .report import Figure, Ratio, Size, Time
from .timing import Case, Series, series, slope

Key: TypeAlias = tuple[Figure, str, int]
"""What was measured, of whom, with how many messages of history."""


_NEAREST: dict[Figure, Figure] = {"collect": "turn", "restore": "turn", "held-bare": "held"}
"""What a plain call has that comes nearest to something that it has not."""


def figures(cases: Sequence[Case]) -> dict[Key, Series]:
    """All figures of the cases that did not fail, shortest history first."""
    series_by_key: dict[Key, Series] = {}
    by_kind = {(case.kind, case.name, case.messages): case for case in cases if case.failure is None}
    for (kind, name, messages), case in sorted(by_kind.items(), key=lambda item: item[0][2]):
        if kind == "long-stream":
            if (short := by_kind.get(("stream", name, messages))) is not None:
                series_by_key["delta", name, messages] = slope(case.whole, short.whole, DELTAS)
            continue
        series_by_key[kind, name, messages] = series(
            [duration / (SESSIONS if kind == "crowd" else 1) for duration in case.whole]
        )
        if kind == "stream":
            series_by_key["first-delta", name, messages] = series(case.first)
    return series_by_key


def times(series_by_key: Mapping[Key, Series]) -> Iterator[Time]:
    """The figures that are times, as they are reported."""
    for (figure, name, messages), measurement in series_by_key.items():
        match figure:
            case "peak" | "left" | "held" | "held-bare":
                continue
            case _:
                yield Time(figure, name, messages, measurement.best, measurement.rounds)


def sizes(series_by_key: Mapping[Key, Series]) -> Iterator[Size]:
    """The figures that are sizes."""
    for (figure, name, messages), measurement in series_by_key.items():
        match figure:
            case "peak":
                yield Size(figure, name, messages, measurement.best, "bytes")
            case "left":
                yield Size(figure, name, messages, measurement.best, "blocks")
            case "held" | "held-bare":
                yield Size(figure, name, messages, measurement.best, "bytes a message")
            case _:
                continue


def ratios(series_by_key: Mapping[Key, Series], plain: Sequence[str]) -> Iterator[Ratio]:
    """What is compared. All with the floor; the paths also with each plain call, with the legacy path, and with their
    own shortest history."""
    for figure, name, messages in series_by_key:
        if name == FLOOR:
            continue
        others = (*plain, FLOOR) if name in PATHS else (FLOOR,)
        for other in others:
            theirs = _NEAREST.get(figure, figure)
            yield from _ratio(series_by_key, (figure, name, messages), (theirs, other, messages))
        if name == "stateless":
            yield from _ratio(series_by_key, (figure, name, messages), (figure, "legacy", messages))
        shortest = min(at for one, whose, at in series_by_key if (one, whose) == (figure, name))
        if name in PATHS and messages != shortest:
            yield from _ratio(series_by_key, (figure, name, messages), (figure, name, shortest))


def _ratio(series_by_key: Mapping[Key, Series], numerator: Key, denominator: Key) -> Iterator[Ratio]:
    """One ratio; none where the other side was not measured, or came out as nothing in the noise."""
    if denominator not in series_by_key:
        return
    upper, theirs = series_by_key[numerator], series_by_key[denominator]
    quotients = [one / other for one, other in zip(upper.rounds, theirs.rounds, strict=True) if other > 0]
    if theirs.best > 0 and quotients:
        yield Ratio(*numerator, denominator[1], denominator[2], *spread(quotients))


class Spread(NamedTuple):
    """`value` is never outside of `low` and `high`."""

    value: float
    low: float
    high: float


def spread(quotients: Sequence[float]) -> Spread:
    """The ratio of two things, from at least one quotient."""
    return Spread(statistics.median(quotients), min(quotients), max(quotients))
