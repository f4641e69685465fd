"""Second runs of the legacy path, which tell noise from difference: what two runs of one path do not agree on proves
nothing about the other path.

Where both paths did the same there is nothing to tell apart, and no second run. So they come after the plan's runs, for
those scenarios whose runs differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as with_changes

from msgspec.structs import replace

from ...judge.parity import compare_views
from ...judge.requirements import REGISTRY, Requirement
from ...judge.requirements.aspect_marks import agree
from ...judge.view import View
from ...provider import Path
from ...run.driver import RunSpec
from ...run.transcript import RunKey
from .plan import Plan

_OTHER: dict[Path, Path] = {"stateless": "legacy", "legacy": "stateless"}


class SecondRuns:
    """The second legacy runs of one subject: none where no verdict compares its paths.

    The plan's runs are looked at one by one, in any order: paths are compared as soon as there are both.
    """

    def __init__(self, plan: Plan, spec: str) -> None:
        self._specs = [run for run in plan.runs if run.adapter == spec and run.key.path == "legacy"]
        self._requirements = [item.requirement for item in plan.items if item.adapter == spec and item.path == "parity"]
        self._seen: dict[RunKey, View] = {}
        self._differing: set[RunKey] = set()
        self._same: set[RunKey] = set()

    def look(self, view: View) -> None:
        """Look at one of the plan's runs."""
        if not self._requirements or view.key.repeat:
            return
        other = self._seen.pop(replace(view.key, path=_OTHER[view.key.path]), None)
        if other is None:
            self._seen[view.key] = view
            return
        stateless, legacy = (view, other) if view.key.path == "stateless" else (other, view)
        if _differ(stateless, legacy, self._requirements):
            self._differing.add(legacy.key)
        elif stateless.finished and legacy.finished:
            self._same.update((stateless.key, legacy.key))

    def runs(self) -> list[RunSpec]:
        """A run for each scenario and mode in which the paths differ, in the plan's order."""
        return [with_changes(run, key=replace(run.key, repeat=1)) for run in self._specs if run.key in self._differing]

    def not_the_same(self, views: Iterable[View]) -> list[View]:
        """The runs but for those that were looked at and differ in nothing from the run of the other path."""
        return [view for view in views if view.key not in self._same]


def second_runs(plan: Plan, spec: str, views: Iterable[View]) -> list[RunSpec]:
    """The second legacy runs of one subject, when all its runs are there."""
    found = SecondRuns(plan, spec)
    for view in views:
        found.look(view)
    return found.runs()


def _differ(stateless: View, legacy: View, requirements: Iterable[Requirement]) -> bool:
    """Whether anything that may be compared of two runs is not the same; of one that came to no end nothing may be."""
    if not (stateless.finished and legacy.finished):
        return False
    aspects = (
        REGISTRY[requirement.id].aspect for requirement in requirements if requirement.looks_at(legacy.key.scenario)
    )
    return not compare_views(stateless, legacy).equal or any(
        not agree(aspect, stateless, legacy) for aspect in aspects if aspect is not None
    )
