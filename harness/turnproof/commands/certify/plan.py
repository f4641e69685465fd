"""What a certification needs: which requirements on which paths, and which runs they read.

Nothing is left out in silence: a scenario that a subject does not claim the features for, or has not the operations
for, is listed as left out, and requirements it does not claim get a `not-claimed` verdict. Requirements and scenarios
that are about sessions alone are no part of an adapter's certification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal, Protocol, TypeAlias

from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.suggestions import did_you_mean
from ...errors import CatalogueError
from ...judge.requirements import REGISTRY, Requirement, Suite
from ...judge.requirements.scenario_index import SIDES
from ...provider import PATHS, Capabilities, Path
from ...run.driver import RunSpec
from ...run.transcript import RunKey
from ...scenarios.model import Scenario
from ...subject import SubjectKind
from .decide import lacking_for

JudgedPath: TypeAlias = Literal["stateless", "legacy", "parity"]


class Plannable(Protocol):
    """What is asked of a subject to plan for it."""

    @property
    def kind(self) -> SubjectKind: ...

    @property
    def dialect(self) -> str: ...

    @property
    def paths(self) -> tuple[Path, ...]: ...

    @property
    def operations(self) -> Collection[str]: ...

    def claims(self) -> Capabilities: ...


@dataclass(frozen=True, slots=True)
class Item:
    """One requirement on one path of one subject: what gets one verdict."""

    adapter: str
    requirement: Requirement
    path: JudgedPath

    @property
    def id(self) -> str:
        return f"{self.adapter}::{self.requirement.id}[{self.path}]"


@dataclass(frozen=True, slots=True)
class Plan:
    """The items to decide and the runs to make.

    `left_out` counts, by subject and what is lacking, the scenarios that could not be run; `considered`, by subject,
    those of this depth that are meant for its kind.
    """

    items: tuple[Item, ...]
    runs: tuple[RunSpec, ...]
    considered: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, Counter[str]] = field(default_factory=dict)


def select(suite: Suite, only: Sequence[str], skip: Sequence[str], profiles: Sequence[str]) -> list[Requirement]:
    """The requirements asked for. Raises CatalogueError for a pattern or profile that matches nothing."""
    requirements = suite.requirements
    ids = [requirement.id for requirement in requirements]
    for pattern in (*only, *skip):
        if not any(fnmatchcase(id, pattern) for id in ids):
            if pattern in suite.catalogue:
                file, profile = f"profiles/{suite.profiles.name}.toml", suite.catalogue[pattern].profile
                raise CatalogueError(
                    f"{pattern!r} is in requirements.toml but in no profile: "
                    f"add it to {profile!r} in {file} of {suite.package}"
                )
            raise CatalogueError(f"no requirement matches {pattern!r}{did_you_mean(pattern, ids)}")
    known = {requirement.profile for requirement in requirements}
    for profile in profiles:
        if profile not in known:
            raise CatalogueError(f"no requirement is in profile {profile!r}{did_you_mean(profile, known)}")

    def is_selected(requirement: Requirement) -> bool:
        if profiles and requirement.profile not in profiles:
            return False
        if only and not any(fnmatchcase(requirement.id, pattern) for pattern in only):
            return False
        return not any(fnmatchcase(requirement.id, pattern) for pattern in skip)

    return [requirement for requirement in requirements if is_selected(requirement)]


def plan(
    subjects: Mapping[str, Plannable],
    suite: Suite,
    scenarios: Iterable[Scenario],
    requirements: Sequence[Requirement],
    *,
    path: str | None = None,
    depth: Depth = DEFAULT_DEPTH,
    showing: bool = False,
    named: bool = False,
) -> Plan:
    """All items and runs for these subjects.

    With `showing`, of the scenarios that a requirement is judged on those that show it, by the index of the suite: that
    is enough where some requirements alone are asked for. Where scenarios were `named`, none gives way to another.
    """
    items: list[Item] = []
    runs: list[RunSpec] = []
    left_out: dict[str, Counter[str]] = {}
    considered: dict[str, int] = {}
    indexed = suite.shown.names() if showing and suite.shown is not None else frozenset()
    every = [scenario for scenario in scenarios if scenario.is_in(depth)]
    for spec, subject in subjects.items():
        paths = [p for p in PATHS if path in (None, p) and p in subject.paths]
        claims = subject.claims()
        fitting = [requirement for requirement in requirements if requirement.concerns(subject.kind)]
        judged = [requirement for requirement in fitting if not requirement.lacks(claims)]
        for requirement in fitting:
            items += [Item(spec, requirement, p) for p in paths]
            if len(paths) == 2 and REGISTRY[requirement.id].aspect is not None:
                items.append(Item(spec, requirement, "parity"))
        looks_at = partial(_shows, suite, indexed, subject.dialect) if showing else Requirement.looks_at
        meant = [scenario for scenario in every if scenario.subject in ("adapter", subject.kind)]
        if depth == DEFAULT_DEPTH and not named:
            meant = _without_spare(meant, claims, subject.operations)
        considered[spec] = len(meant)
        for scenario in meant:
            if lacking := lacking_for(scenario, claims, subject.operations):
                left_out.setdefault(spec, Counter())[", ".join(lacking)] += 1
            elif any(looks_at(requirement, scenario.name) for requirement in judged):
                runs += _runs(spec, scenario, paths, claims.streaming)
    return Plan(tuple(items), tuple(runs), considered, left_out)


def _without_spare(scenarios: Sequence[Scenario], claims: Capabilities, operations: Collection[str]) -> list[Scenario]:
    """The scenarios without those in whose place the subject runs another one."""
    fitting = {scenario.name for scenario in scenarios if not lacking_for(scenario, claims, operations)}
    return [scenario for scenario in scenarios if fitting.isdisjoint(scenario.unless)]


def in_part(requirements: Sequence[Requirement], suite: Suite, kind: SubjectKind) -> bool:
    """Whether these are not all requirements that a subject of this kind is judged by."""
    selection = {requirement.id for requirement in requirements}
    return any(one.id not in selection for one in suite.requirements if one.concerns(kind))


def _shows(suite: Suite, indexed: frozenset[str], dialect: str, requirement: Requirement, scenario: str) -> bool:
    """Whether a scenario shows a requirement; of what the index does not know, whether it is judged on it."""
    if suite.shown is None or scenario not in indexed:
        return requirement.looks_at(scenario)
    sides = [suite.shown.scenarios(requirement.id, dialect, side) for side in SIDES]
    if not any(sides):
        return requirement.looks_at(scenario)
    return any(scenario in found for found in sides)


def _runs(spec: str, scenario: Scenario, paths: Sequence[Path], streaming: bool) -> Iterable[RunSpec]:
    for mode in scenario.modes_with(streaming):
        for path in paths:
            yield RunSpec(spec, scenario, RunKey(scenario.name, path, mode))
