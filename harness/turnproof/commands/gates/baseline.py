"""The ratchet: what was open when the state was last recorded stays open, and what is left to do does not grow.

The record is a file to commit. A gate in shadow mode is held against it: what closes again fails the job, what was
closed already does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ..._base.canonical import canonical
from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.whole_files import write_whole
from ...errors import UsageError
from .model import CriterionReport, GateReport, Regression, State, SubjectReport

SCHEMA = "turnproof.gate-baseline/1"


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A criterion as it stood. `left` names what kept it closed."""

    state: State
    left: tuple[str, ...] = ()


class RecordedPhase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The gate of a phase, by subject and criterion. What only more scenarios show is no step back."""

    depth: Depth
    subjects: dict[str, dict[str, Recorded]]


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file; phases by their number."""

    phases: dict[str, RecordedPhase] = {}
    schema: str = SCHEMA


def read_baseline(file: Path) -> Baseline | None:
    """The record, or None where there is no such file. Raises UsageError, with file and spot, for a damaged one."""
    if not file.exists():
        return None
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Baseline)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as a record of gates: {error}; record it again") from error
    if found.schema != SCHEMA:
        raise UsageError(
            f"{file}: its schema is {found.schema!r}, and this turnproof reads {SCHEMA!r}; record it again"
        )
    return found


def check_depth(file: Path, baseline: Baseline, phase: int, depth: Depth) -> None:
    """Raise UsageError where fewer scenarios were recorded than are run now: what they show is no step back."""
    recorded = baseline.phases.get(str(phase))
    if recorded is not None and recorded.depth == DEFAULT_DEPTH and depth == "full":
        raise UsageError(
            f"{file}: phase {phase} was recorded with --depth quick, and this is full; "
            "record it again, or run this one with --depth quick"
        )


def regressions(report: GateReport, baseline: Baseline | None) -> tuple[Regression, ...]:
    """What has closed since then, can no longer be decided, or has more left than it had."""
    recorded = baseline.phases.get(str(report.phase)) if baseline is not None else None
    if recorded is None:
        return ()
    return tuple(
        step
        for subject in report.subjects
        for criterion in subject.criteria
        for step in _steps_back(subject, criterion, recorded.subjects.get(subject.name, {}), report)
    )


def _steps_back(
    subject: SubjectReport, criterion: CriterionReport, before: Mapping[str, Recorded], report: GateReport
) -> Iterator[Regression]:
    was = before.get(criterion.id)
    if was is None:
        return
    if was.state in (State.OPEN, State.ACCEPTED):
        # A gate that was shown only some scenarios knows of less.
        unknown = criterion.state is State.UNDECIDED and not report.partial
        if criterion.state is State.CLOSED or unknown:
            yield Regression(subject.name, criterion.id, was.state, criterion.state, ())
        return
    new = tuple(sorted(set(criterion.left) - set(was.left))) if was.left else ()
    if new and was.state is State.CLOSED and criterion.state is State.CLOSED:
        yield Regression(subject.name, criterion.id, was.state, criterion.state, new)


def record(report: GateReport, baseline: Baseline | None, file: Path) -> None:
    """Write the gate into the file, in place of what it had of this phase and these subjects."""
    phases = dict(baseline.phases) if baseline is not None else {}
    before = phases.get(str(report.phase))
    subjects = dict(before.subjects) if before is not None and before.depth == report.depth else {}
    subjects |= {
        subject.name: {one.id: Recorded(one.state, one.left) for one in subject.criteria} for subject in report.subjects
    }
    phases[str(report.phase)] = RecordedPhase(report.depth, subjects)
    write_whole(file, msgspec.json.format(canonical(Baseline(phases)), indent=2) + b"\n")
