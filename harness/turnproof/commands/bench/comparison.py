"""This run against an earlier one: counts must be equal, ratios may grow by a factor. Milliseconds and bytes are not
compared: another machine, or another hour, has others.

Counts are the same wherever they are taken. Ratios are nearly so on another machine, and are compared with a word of
warning. What a path is over a plain call of an SDK of another version says nothing of the path, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ..._base.counts import counted
from ...judge.run_log import Environment
from .floor import FLOOR, FLOOR_PACKAGE
from .report import Bench, Change, Comparison, Count, Ratio

_CountKey: TypeAlias = tuple[str, str, str, int]
_RatioKey: TypeAlias = tuple[str, str, str, int, str, int]


def compare(now: Bench, before: Bench, baseline: str, max_ratio: float) -> Comparison:
    """What both runs have, and what of it is worse now.

    A ratio is worse if even its best round is above `max_ratio` times the earlier ratio, a count if it is another. A
    count that is gone, though its path was counted at that length of history, is worse too. `elsewhere` says in what
    the two runs differ beside what was measured.
    """
    counts_before, counts_now = _counts(before), _counts(now)
    ratios_before, ratios_now = _ratios(before), _ratios(now)
    counts = [key for key in counts_now if key in counts_before]
    changed = _changed_sdks(now, before)
    ratios = [key for key in ratios_now if key in ratios_before and (key[0], key[4]) not in changed]
    still_counted = {(adapter, path, messages) for adapter, _, path, messages in counts_now}
    worse = [change for key in counts for change in _changes(key, counts_before[key], counts_now[key])]
    for adapter, operation, path, messages in counts_before:
        if (adapter, operation, path, messages) not in counts_now and (adapter, path, messages) in still_counted:
            worse.append(
                Change(adapter, f"{operation}, {path}, {counted(messages, 'message')}", "counted", "not counted")
            )
    for key in ratios:
        old, new = ratios_before[key], ratios_now[key]
        if new.best > old.value * max_ratio:
            worse.append(Change(key[0], new.words, f"{old.value:.4g}", f"{new.best:.4g}"))
    elsewhere = tuple(_differences(now.environment, before.environment))
    return Comparison(baseline, max_ratio, len(counts), len(ratios), tuple(worse), elsewhere)


def _differences(now: Environment, before: Environment) -> Iterator[str]:
    for name in ("python", "platform"):
        there, here = getattr(before, name), getattr(now, name)
        if there != here:
            yield f"{name}: {there} then, {here} now"
    for package in sorted(set(now.packages) & set(before.packages)):
        if (there := before.packages[package]) != (here := now.packages[package]):
            yield f"{package}: {there} then, {here} now"


def _changed_sdks(now: Bench, before: Bench) -> set[tuple[str, str]]:
    """The plain calls, with their adapters, of SDKs that have another version now; and the floor, of its client."""
    here, there = now.environment.packages, before.environment.packages
    return {
        (name, call)
        for name, adapter in now.adapters.items()
        for package, calls in ((adapter.package, adapter.plain_calls), (FLOOR_PACKAGE, (FLOOR,)))
        if here.get(package) != there.get(package)
        for call in calls
    }


def _changes(key: _CountKey, before: Count, now: Count) -> Iterator[Change]:
    adapter, operation, path, messages = key
    for name in ("calls", "requests", "read", "taken", "encoded"):
        old, new = getattr(before, name), getattr(now, name)
        if old != new:
            yield Change(
                adapter,
                f"{name} of {operation}, {path}, {counted(messages, 'message')}",
                _value_text(old),
                _value_text(new),
            )


def _value_text(value: int | dict[str, int] | None) -> str:
    if value is None:
        return "not counted"
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
