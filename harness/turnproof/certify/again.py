"""Second runs of the legacy path, which tell noise from difference: what two runs of one path do not agree on proves
nothing about the other path.

Where both paths did the same there is nothing to tell apart, and no second run. So they come after the plan's runs, for
those scenarios whose runs differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace as with_changes

from msgspec.structs import replace

from ..driver import RunSpec
from ..parity import compare_views
from ..requirements import REGISTRY, Requirement
from ..view import View
from ..view.diff import equal
from .plan import Plan


def second_runs(plan: Plan, spec: str, views: Iterable[View]) -> Iterator[RunSpec]:
    """The second legacy runs of one subject, in the plan's order; none where no verdict compares its paths.

    `views` are those of the plan's runs.
    """
    requirements = [item.requirement for item in plan.items if item.adapter == spec and item.path == "parity"]
    made = {view.key: view for view in views}
    for run in plan.runs:
        other = replace(run.key, path="stateless")
        if not requirements or run.adapter != spec or run.key.path != "legacy" or other not in made:
            continue
        if run.key in made and _differ(made[other], made[run.key], requirements):
            yield with_changes(run, key=replace(run.key, repeat=1))


def _differ(stateless: View, legacy: View, requirements: Iterable[Requirement]) -> bool:
    """Whether anything that may be compared of two runs is not the same; of one that came to no end nothing may be."""
    if not (stateless.finished and legacy.finished):
        return False
    aspects = (
        REGISTRY[requirement.id].aspect for requirement in requirements if requirement.looks_at(legacy.key.scenario)
    )
    return not compare_views(stateless, legacy).equal or any(
        not equal(aspect(stateless), aspect(legacy)) for aspect in aspects if aspect is not None
    )
