"""This run against an earlier one: counts must be equal, ratios may grow by a factor. Milliseconds are not compared:
another machine, or another hour, has others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .report import Bench, Change, Comparison, Count, Ratio

_CountKey: TypeAlias = tuple[str, str, str, int]
_RatioKey: TypeAlias = tuple[str, str, str, int, str, int]


def compare(now: Bench, before: Bench, baseline: str, max_ratio: float) -> Comparison:
    """What both runs have, and what of it is worse now.

    A ratio is worse if even its best round is above `max_ratio` times the earlier ratio, a count if it is another. A
    count that is gone, though its path was counted at that length of history, is worse too.
    """
    counts_before, counts_now = _counts(before), _counts(now)
    ratios_before, ratios_now = _ratios(before), _ratios(now)
    counts = [key for key in counts_now if key in counts_before]
    ratios = [key for key in ratios_now if key in ratios_before]
    counted = {(adapter, path, messages) for adapter, _, path, messages in counts_now}
    worse = [change for key in counts for change in _changes(key, counts_before[key], counts_now[key])]
    for adapter, operation, path, messages in counts_before:
        if (adapter, operation, path, messages) not in counts_now and (adapter, path, messages) in counted:
            worse.append(Change(adapter, f"{operation}, {path}, {messages} messages", "counted", "not counted"))
    for key in ratios:
        old, new = ratios_before[key], ratios_now[key]
        if new.best > old.value * max_ratio:
            worse.append(Change(key[0], new.words, f"{old.value:.4g}", f"{new.best:.4g}"))
    return Comparison(baseline, max_ratio, len(counts), len(ratios), tuple(worse))


def _changes(key: _CountKey, before: Count, now: Count) -> Iterator[Change]:
    adapter, operation, path, messages = key
    for name in ("calls", "requests", "read", "taken"):
        old, new = getattr(before, name), getattr(now, name)
        if old != new:
            yield Change(adapter, f"{name} of {operation}, {path}, {messages} messages", _shown(old), _shown(new))


def _shown(value: int | dict[str, int]) -> str:
    if isinstance(value, int):
        return str(value)
    return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"


def _counts(bench: Bench) -> dict[_CountKey, Count]:
    return {
        (name, count.operation, count.path, count.messages): count
        for name, adapter in bench.adapters.items()
        for count in adapter.counts
    }


def _ratios(bench: Bench) -> dict[_RatioKey, Ratio]:
    return {
        (name, ratio.figure, ratio.caller, ratio.messages, ratio.to, ratio.to_messages): ratio
        for name, ratio in bench.ratios()
    }
