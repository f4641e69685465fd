"""Both paths of a well-behaved adapter, one of them spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace
from suites.build import spoilt

from turnproof.judge.parity import Comparison, compare_views
from turnproof.judge.view import View
from turnproof.messages import Message
from turnproof.provider import Difference
from turnproof.report.comparison import ComparisonReport, Setting, comparison_report
from turnproof.run.transcript import Event

Conversation = Callable[..., View]
Change = Callable[[Any], Event | None]


def compared(
    conversation: Conversation,
    *changes: tuple[type[Event], Change, int],
    mode: str = "stream",
    again: tuple[type[Event], Change, int] | None = None,
) -> Comparison:
    """A stateless run against a legacy one with these changes, and against a second legacy run with another one more.

    A change names a kind of event, what becomes of it, and which of its kind it is.
    """
    first, second = (conversation(path="legacy", mode=mode, repeat=repeat) for repeat in (0, 1))
    for kind, change, nth in changes:
        first, second = (spoilt(view, kind, change, nth) for view in (first, second))
    if again is not None:
        second = spoilt(second, *again)
    return compare_views(conversation(path="stateless", mode=mode), first, second)


def replace_messages(change: Callable[[list[Message]], list[Message]]) -> Change:
    """Another history in a snapshot."""
    return lambda event: replace(event, messages=tuple(change(list(event.messages))))


def nth_snapshot(turn: int, owner: str) -> int:
    """The position of a legacy run's snapshot: each turn has the session's, then the provider's."""
    return 2 * turn + ("session", "provider").index(owner)


def report(
    *comparisons: Comparison,
    declared: tuple[Difference, ...] = (),
    whole: bool = True,
    left_out: Mapping[str, int] | None = None,
) -> ComparisonReport:
    """The report of some comparisons of two paths."""
    setting = Setting(
        compares="paths",
        left="stateless",
        right="legacy",
        backend="emulate",
        depth="full",
        seed=0,
        started="2026-11-22T10:00:00+00:00",
        whole=whole,
    )
    return comparison_report(setting, comparisons, declared, left_out=left_out)
