"""Which runs stand side by side, and which runs that takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...errors import UsageError
from ...provider import PATHS, Path
from ...run.driver import RunSpec
from ...run.transcript import RunKey
from ...scenarios import Scenario
from ...subject import Subject

Mode: TypeAlias = Literal["stream", "batch"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs to compare, and a second run of the right one, which tells noise from difference."""

    left: RunSpec
    right: RunSpec
    again: RunSpec

    @property
    def runs(self) -> tuple[RunSpec, RunSpec, RunSpec]:
        """All three."""
        return self.left, self.right, self.again


def path_pairs(
    spec: str, subject: Subject, scenarios: Iterable[Scenario], modes: Sequence[Mode], path: Path | None = None
) -> list[Pair]:
    """The stateless against the legacy path of one adapter. Raises UsageError where there are no two paths."""
    if path is not None:
        raise UsageError(f"one path of {spec} cannot be compared with itself: leave out --path, or name two adapters")
    missing = [name for name in PATHS if name not in subject.paths]
    if missing:
        raise UsageError(f"{spec} has no {missing[0]} path to compare: name a second adapter, or a second version")
    return [
        Pair(
            RunSpec(spec, scenario, RunKey(scenario.name, "stateless", mode)),
            RunSpec(spec, scenario, RunKey(scenario.name, "legacy", mode)),
            RunSpec(spec, scenario, RunKey(scenario.name, "legacy", mode, repeat=1)),
        )
        for scenario in scenarios
        for mode in modes_of(scenario, modes, subject)
    ]


def adapter_pairs(
    adapters: Mapping[str, Subject], scenarios: Iterable[Scenario], modes: Sequence[Mode], path: Path | None = None
) -> list[Pair]:
    """Two adapters on each path that both have. Raises UsageError where there is none."""
    (left, one), (right, other) = adapters.items()
    paths = [path] if path is not None else PATHS
    shared = [name for name in paths if name in one.paths and name in other.paths]
    if not shared:
        raise UsageError(f"{left} and {right} have no {f'{path} path' if path else 'path'} in common")
    return [
        Pair(
            RunSpec(left, scenario, RunKey(scenario.name, name, mode)),
            RunSpec(right, scenario, RunKey(scenario.name, name, mode)),
            RunSpec(right, scenario, RunKey(scenario.name, name, mode, repeat=1)),
        )
        for scenario in scenarios
        for mode in modes_of(scenario, modes, one, other)
        for name in shared
    ]


def modes_of(scenario: Scenario, modes: Sequence[Mode], *subjects: Subject) -> list[Mode]:
    """The modes that a scenario runs in, as far as they are wanted and every adapter claims them."""
    streams = all(subject.claims().streaming for subject in subjects)
    return [mode for mode in scenario.modes_with(streams) if mode in modes]
