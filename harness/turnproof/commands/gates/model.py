"""What a gate says: each criterion open, closed or undecided, and the gate with them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

import msgspec

from ... import __version__
from ..._base.canonical import canonical
from ..._base.depth import Depth
from ..._base.exit_codes import Exit
from ..._base.settings import GateMode
from ...judge.finding import Finding
from ...judge.verdict import Status
from .decision import Spot
from .phases import Setting

SCHEMA = "turnproof.gate/2"


class State(StrEnum):
    """Where a criterion, or a gate, stands; heaviest first.

    A criterion that was not asked for, or that need not hold for now (`accepted`), keeps no gate closed.
    """

    CLOSED = "closed"
    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    OPEN = "open"
    NOT_ASKED = "not-asked"


STATE_OF: dict[Status, State] = {
    Status.VIOLATED: State.CLOSED,
    Status.INCONCLUSIVE: State.UNDECIDED,
    Status.KNOWN_ISSUE: State.ACCEPTED,
    Status.HELD: State.OPEN,
    Status.NOT_CLAIMED: State.NOT_ASKED,
}
"""A gate's word for what a check says."""


def gate_state(states: Iterable[State]) -> State:
    """The state of a whole: the heaviest one; undecided where nothing holds, or nothing is there."""
    found = set(states)
    heaviest = next((state for state in (State.CLOSED, State.UNDECIDED, State.OPEN) if state in found), None)
    return heaviest or State.UNDECIDED


class FindingReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason for a state other than open, as data, and the same in words.

    `setting` is how the flag stood in the run of its place, and `spot` the line of source that it is about.
    """

    finding: Finding
    title: str
    expected: str
    got: str
    where: str
    setting: Setting | None = None
    spot: Spot | None = None


class CriterionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion.

    `message` tells the first of its findings: what was seen, where, and both sides; `detail` more of it, line by line.
    `measured` is what was looked at and found in order. `left` names, one by one, what keeps it closed, and `spots` the
    lines of source that this is about. `evidence` are digests of the runs that decided it. `reproduce` is the command
    that shows the same with the fewest runs. `findings` are why it is not open, as data, of each code the first ones;
    nothing but people reads the words.
    """

    id: str
    side: Literal["entry", "exit"]
    title: str
    check: str
    state: State
    message: str
    detail: str
    measured: tuple[str, ...]
    evidence: tuple[str, ...]
    reproduce: str
    reason: str
    remedy: str
    sources: tuple[str, ...]
    left: tuple[str, ...] = ()
    spots: tuple[Spot, ...] = ()
    findings: tuple[FindingReport, ...] = ()


class Regression(msgspec.Struct, frozen=True):
    """A step back from what was recorded: a criterion of a subject that `was` open, or `new` things that are left."""

    subject: str
    criterion: str
    was: State
    now: State
    new: tuple[str, ...] = ()


class FlagReport(msgspec.Struct, frozen=True):
    """The migration flag: its variable, what it was set to, and the path on which it should be when it is not set.

    `gone`: by this phase nothing reads it any more.
    """

    variable: str
    off: str
    on: str
    default_path: str
    flip_phase: int
    gone: bool = False


class SubjectReport(msgspec.Struct, frozen=True, kw_only=True):
    """A session on an adapter. `left_out` counts scenarios by what they need that is not there."""

    name: str
    spec: str
    session: str
    adapter: str
    dialect: str
    model: str
    backend: str
    flag: FlagReport
    state: State
    criteria: tuple[CriterionReport, ...]
    scenarios: int
    left_out: dict[str, int]


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole gate. `partial`: not every scenario was asked for, so it cannot be open.

    `runs` are the folders of the runs and their evidence, relative to the report. `gate_exit_code` is what the state
    amounts to, `exit_code` that of the process, which depends on the mode. `out_of_order` names the entry criteria that
    do not hold for those who had to pass the phase before. `recorded` says whether there was a record to hold the gate
    against, and `regressions` what is worse than there.
    """

    schema: str = SCHEMA
    turnproof: str = __version__
    phase: int
    name: str
    goal: str
    state: State
    exit_code: int
    gate_exit_code: int
    mode: GateMode
    out_of_order: tuple[str, ...]
    recorded: bool
    regressions: tuple[Regression, ...]
    partial: bool
    depth: Depth
    seed: int
    started: str
    duration_s: float
    runs: tuple[str, ...]
    subjects: tuple[SubjectReport, ...]


def exit_code(state: State) -> Exit:
    """What a gate in this state gives a CI job that enforces it."""
    return {State.OPEN: Exit.OK, State.CLOSED: Exit.VIOLATIONS}.get(state, Exit.UNDECIDED)


def exit_code_in(mode: GateMode, state: State, steps_back: Iterable[Regression]) -> Exit:
    """What the process ends with: nothing ever fails a report, and only a step back what is in the shadow."""
    if mode == "enforce":
        return exit_code(state)
    worst = [step.now for step in steps_back] if mode == "shadow" else []
    return exit_code(gate_state(worst)) if worst else Exit.OK


def gate_json(report: GateReport) -> bytes:
    """The report as indented JSON with sorted keys; equal reports are equal bytes."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"
