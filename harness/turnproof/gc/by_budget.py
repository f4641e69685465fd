"""`BudgetGC`: take away what is worth least, and no more than it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from itertools import pairwise

from ..budget import Entry, Policy, Source
from .base import GCResult
from .collection import BaseCollector, Collection
from .turns import connected

_SPARE = {Policy.EPHEMERAL, Policy.PARTIAL, Policy.CONDITIONAL}


class BudgetGC(BaseCollector):
    """Goes by the budget's policies until the target is met, the oldest first in every step.

    First enrichment, then what is ephemeral, with calls and results as one; then whole turns, save for those with
    something preservable; and those too where the context is under pressure: the share that `pressure` names is used,
    the provider has refused the prompt, or there are more turns than `max_turns`. What is locked or pinned and the last
    `keep_turns` turns stay. Without a target (by hand, say) every step is taken to its end.
    """

    def work(self, collection: Collection) -> GCResult:
        """The history without what it could spare."""
        steps = _Steps(collection)
        removed: set[int] = set()
        excess = collection.excess
        for unit in steps.units():
            if excess <= 0:
                break
            unit = unit - removed
            removed |= unit
            excess -= collection.budget.weigh(collection.history[n] for n in unit)
        if not removed:
            return collection.unchanged()
        return collection.leave(set(range(len(collection.history))) - removed)


class _Steps:
    """What could go, in the order in which it should."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._entries = collection.budget.entries_of(collection.history)
        starts, keep = collection.starts, collection.config.keep_turns
        recent = starts[-keep] if len(starts) > keep else 0
        self._turns = [range(*ends) for ends in pairwise([0, *starts, len(self._entries)])]
        self._firm = collection.staying(self._with(Policy.LOCKED).union(range(recent, len(self._entries))))

    def units(self) -> Iterator[set[int]]:
        """Sets of messages that go together. One may hold what an earlier one held already."""
        yield from self._loose(lambda entry: entry.source is Source.ENRICHMENT and entry.policy in _SPARE)
        yield from self._loose(lambda entry: entry.policy is Policy.EPHEMERAL)
        yield from self._whole_turns(self._firm | self._collection.staying(self._with(Policy.PRESERVABLE)))
        if self._under_pressure():
            yield from self._whole_turns(self._firm)

    def _loose(self, fits: Callable[[Entry], bool]) -> Iterator[set[int]]:
        """Messages that can go by themselves, each with the other half of its pair, which then has to fit as well."""
        seen: set[int] = set()
        for index, entry in enumerate(self._entries):
            if index in seen or not fits(entry):
                continue
            unit = connected(index, self._collection.links)
            seen |= unit
            if all(self._can_go_alone(n) and fits(self._entries[n]) for n in unit):
                yield unit

    def _can_go_alone(self, index: int) -> bool:
        return index not in self._firm and self._collection.openings[index] != index

    def _whole_turns(self, firm: Set[int]) -> Iterator[set[int]]:
        """Turns, but for what is firm in them, and for what only makes sense beside it."""
        for turn in self._turns:
            rest = {n for n in turn if n not in firm}
            if any(n in firm and self._entries[n].policy is not Policy.LOCKED for n in turn):
                rest = {n for n in rest if self._entries[n].policy is not Policy.CONDITIONAL}
            if rest:
                yield rest

    def _with(self, policy: Policy) -> set[int]:
        return {n for n, entry in enumerate(self._entries) if entry.policy is policy}

    def _under_pressure(self) -> bool:
        usage, config, reason = self._collection.usage, self._collection.config, self._collection.reason
        return reason in ("overflow", "turn-limit") or usage.share >= config.pressure
