"""The phases of the migration and their criteria: data, read from `phases.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from ..._base.suggestions import did_you_mean
from ...errors import CatalogueError, UsageError

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
    "default-flipped",
    "complete-called",
    "one-path-only",
    "legacy-gone",
    "history-held",
    "history-in-source",
    "what-stays",
    "accounts-emptied",
    "flag-gone",
    "provider-untouched",
    "plugin-with-session",
    "session-source",
]

Situation: TypeAlias = Literal["budget", "save", "cancel", "overflow", "collection", "restore", "reset"]
"""What a session may be about when it uses its provider."""

_FLAGS: Mapping[CheckName, Sequence[tuple[Setting, ...]]] = {
    "path-taken": [("default",), ("off",), ("on",)],
    "default-flipped": [("default",)],
    "paths-agree": [("off", "on")],
    "one-path-only": [("off", "on")],
    "declared-differences-occur": [("off", "on")],
    "flag-gone": [("default", "off")],
}
"""The forms of `flag` that checks can read which need certain ones."""

WATCHING: frozenset[CheckName] = frozenset(
    {
        "complete-called",
        "legacy-gone",
        "history-held",
        "history-in-source",
        "what-stays",
        "accounts-emptied",
        "provider-untouched",
        "plugin-with-session",
    }
)
"""The checks that read what is put down of providers in runs that are watched."""

FIRST_WITHOUT_FLAG = 4
"""The phase from which on the flag, and the legacy path with it, are gone."""

ON_THE_LEGACY_PATH = (1, 2)
"""The phases that hold everything against the legacy path, so that there has to be one."""

_ID = re.compile(r"[1-9]/[a-z0-9]+(-[a-z0-9]+)*")
_FILE = Path(__file__).with_name("phases.toml")


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that has to hold for a gate to open.

    `check` names what decides it and `flag` the runs that it reads, by how the flag stands in them. `requirements` are
    ids of the suite, for the check of that name alone, and `situations` for `provider-untouched`. `remedy` says what to
    look at when it does not hold. `of_adapter`: it is asked of the adapter, which is run by itself where the session
    shows no calls of its provider.
    """

    id: str
    title: str
    check: CheckName
    flag: tuple[Setting, ...]
    reason: str
    remedy: str
    sources: tuple[str, ...]
    requirements: tuple[str, ...] = ()
    situations: tuple[Situation, ...] = ()
    of_adapter: bool = False

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise CatalogueError(f"{self.id!r} is not phase/what-holds")
        expected_flags = _FLAGS.get(self.check)
        if not self.flag or (expected_flags is not None and self.flag not in expected_flags):
            forms = " or ".join(str(list(form)) for form in expected_flags or _FLAGS["path-taken"])
            raise CatalogueError(
                f"{self.id}: the check {self.check!r} cannot read flag = {list(self.flag)}, but {forms}"
            )
        if bool(self.requirements) != (self.check == "requirements"):
            raise CatalogueError(f"{self.id}: 'requirements' and the check of that name go together")
        if bool(self.situations) != (self.check == "provider-untouched"):
            raise CatalogueError(f"{self.id}: 'situations' and the check 'provider-untouched' go together")
        for field in ("title", "reason", "remedy"):
            if not getattr(self, field).strip():
                raise CatalogueError(f"{self.id}: {field!r} is blank")

    @property
    def phase(self) -> int:
        """The phase whose exit it belongs to."""
        return int(self.id.partition("/")[0])


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of the migration. `entry` and `exit` are ids of criteria, in the order in which they are shown.

    `subjects` says who has to pass: the session on the `pilot` adapter, or on `all` of them. `flag` says whether the
    session is still to `read` the migration flag, or whether it is `gone`.
    """

    number: int
    name: str
    goal: str
    subjects: Literal["pilot", "all"] = "pilot"
    flag: Literal["read", "gone"] = "read"
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

    def entry(self, phase: Phase) -> tuple[Criterion, ...]:
        """What has to hold already. Where the flag is gone, what was to hold with it on or off holds without it."""
        criteria = self.criteria(phase.entry)
        return tuple(self._without_flag(one) for one in criteria) if phase.flag == "gone" else criteria

    def exit(self, phase: Phase) -> tuple[Criterion, ...]:
        """What the phase is for."""
        return self.criteria(phase.exit)

    def _without_flag(self, criterion: Criterion) -> Criterion:
        home = next(phase for phase in self.phase if phase.number == criterion.phase)
        return criterion if home.flag == "gone" else msgspec.structs.replace(criterion, flag=("default",))


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
    yield from (f"criterion {id!r} is there twice" for id in _twice(ids))
    yield from (f"phase {number} is there twice" for number in _twice([phase.number for phase in phases.phase]))
    for phase in phases.phase:
        if (phase.flag == "gone") != (phase.number >= FIRST_WITHOUT_FLAG):
            yield f"phase {phase.number}: the flag is gone from phase {FIRST_WITHOUT_FLAG} on, and only there"
        for id in (*phase.entry, *phase.exit):
            if id not in ids:
                yield f"phase {phase.number} names the criterion {id!r}, which is not there{did_you_mean(id, ids)}"
        for criterion in phases.criteria([id for id in phase.exit if id in ids]):
            if criterion.phase != phase.number:
                yield f"{criterion.id!r} is among the exit criteria of phase {phase.number}"
        for criterion in phases.criteria([id for id in phase.entry if id in ids]):
            if criterion.phase >= phase.number:
                yield f"{criterion.id!r} is among the entry criteria of phase {phase.number}"
    named = {id for phase in phases.phase for id in phase.exit}
    yield from (f"no phase has {id!r} among its exit criteria" for id in ids if id not in named)


def _twice(values: Sequence[Any]) -> list[Any]:
    return sorted({value for value in values if values.count(value) > 1})
