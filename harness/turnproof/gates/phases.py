"""The phases of the migration and their criteria: data, read from `phases.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from .._suggest import did_you_mean
from ..errors import CatalogueError, UsageError

Setting: TypeAlias = Literal["default", "off", "on"]
"""How the migration flag stands: not set at all, off, or on."""

CheckName: TypeAlias = Literal[
    "requirements",
    "turns-answered",
    "histories-agree",
    "path-taken",
    "paths-agree",
    "declared-differences-occur",
    "existing-tests",
]

_FLAGS: Mapping[CheckName, Sequence[tuple[Setting, ...]]] = {
    "path-taken": [("default",), ("off",), ("on",)],
    "paths-agree": [("off", "on")],
    "declared-differences-occur": [("off", "on")],
}
"""The forms of `flag` that checks can read which need certain ones."""

_ID = re.compile(r"[1-9]/[a-z0-9]+(-[a-z0-9]+)*")
_FILE = Path(__file__).with_name("phases.toml")


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that has to hold for a gate to open.

    `check` names what decides it and `flag` the runs that it reads, by how the flag stands in them. `requirements` are
    ids of the suite, for the check of that name alone. `remedy` says what to look at when it does not hold.
    """

    id: str
    title: str
    check: CheckName
    flag: tuple[Setting, ...]
    reason: str
    remedy: str
    sources: tuple[str, ...]
    requirements: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise CatalogueError(f"{self.id!r} is not phase/what-holds")
        wanted = _FLAGS.get(self.check)
        if not self.flag or (wanted is not None and self.flag not in wanted):
            forms = " or ".join(str(list(form)) for form in wanted or _FLAGS["path-taken"])
            raise CatalogueError(
                f"{self.id}: the check {self.check!r} cannot read flag = {list(self.flag)}, but {forms}"
            )
        if bool(self.requirements) != (self.check == "requirements"):
            raise CatalogueError(f"{self.id}: 'requirements' and the check of that name go together")
        for field in ("title", "reason", "remedy"):
            if not getattr(self, field).strip():
                raise CatalogueError(f"{self.id}: {field!r} is blank")

    @property
    def phase(self) -> int:
        """The phase whose exit it belongs to."""
        return int(self.id.partition("/")[0])


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of the migration. `entry` and `exit` are ids of criteria, in the order in which they are shown."""

    number: int
    name: str
    goal: str
    entry: tuple[str, ...] = ()
    exit: tuple[str, ...] = ()


class Phases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All phases with all criteria, as they stand in the file."""

    phase: tuple[Phase, ...]
    criterion: tuple[Criterion, ...] = ()

    def __getitem__(self, number: int) -> Phase:
        """A phase that has criteria. Raises UsageError for any other number."""
        found = next((phase for phase in self.phase if phase.number == number), None)
        ready = ", ".join(str(phase.number) for phase in self.phase if phase.exit)
        if found is None:
            raise UsageError(f"there is no phase {number}; those with a gate are {ready}")
        if not found.exit:
            raise UsageError(
                f"phase {number} ({found.name}: {found.goal}) has no criteria yet; those with a gate are {ready}"
            )
        return found

    def criteria(self, ids: Sequence[str]) -> tuple[Criterion, ...]:
        """The criteria with these ids."""
        known = {criterion.id: criterion for criterion in self.criterion}
        return tuple(known[id] for id in ids)


def load_phases(path: Path = _FILE) -> Phases:
    """Read the phases. Raises CatalogueError, with the file and the spot, for whatever does not fit together."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Phases)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, CatalogueError) as error:
        raise CatalogueError(f"{path}: {error}") from error
    for problem in _problems(found):
        raise CatalogueError(f"{path}: {problem}")
    return found


def _problems(phases: Phases) -> Iterator[str]:
    ids = [criterion.id for criterion in phases.criterion]
    yield from (f"criterion {id!r} stands there twice" for id in _twice(ids))
    yield from (f"phase {number} stands there twice" for number in _twice([phase.number for phase in phases.phase]))
    for phase in phases.phase:
        for id in (*phase.entry, *phase.exit):
            if id not in ids:
                yield f"phase {phase.number} names the criterion {id!r}, which is not there{did_you_mean(id, ids)}"
        for criterion in phases.criteria([id for id in phase.exit if id in ids]):
            if criterion.phase != phase.number:
                yield f"{criterion.id!r} stands among the exit criteria of phase {phase.number}"
        for criterion in phases.criteria([id for id in phase.entry if id in ids]):
            if criterion.phase >= phase.number:
                yield f"{criterion.id!r} stands among the entry criteria of phase {phase.number}"
    named = {id for phase in phases.phase for id in phase.exit}
    yield from (f"no phase has {id!r} among its exit criteria" for id in ids if id not in named)


def _twice(values: Sequence[Any]) -> list[Any]:
    return sorted({value for value in values if values.count(value) > 1})
