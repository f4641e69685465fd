"""What a gate says: each criterion open, closed or undecided, and the gate with them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

import msgspec

from .. import __version__
from .._canonical import canonical
from ..exits import Exit
from ..verdict import Status

SCHEMA = "turnproof.gate/1"


class State(StrEnum):
    """Where a criterion, or a gate, stands; heaviest first. A criterion that was not asked for keeps no gate closed."""

    CLOSED = "closed"
    UNDECIDED = "undecided"
    OPEN = "open"
    NOT_ASKED = "not-asked"


STATE_OF: dict[Status, State] = {
    Status.VIOLATED: State.CLOSED,
    Status.INCONCLUSIVE: State.UNDECIDED,
    Status.KNOWN_ISSUE: State.CLOSED,
    Status.HELD: State.OPEN,
    Status.NOT_CLAIMED: State.NOT_ASKED,
}
"""A gate's word for what a check says."""


def gate_state(states: Iterable[State]) -> State:
    """The state of a whole: the heaviest one; undecided where nothing was asked for, or nothing is there."""
    found = set(states)
    heaviest = next((state for state in State if state in found), State.NOT_ASKED)
    return State.UNDECIDED if heaviest is State.NOT_ASKED else heaviest


class CriterionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion.

    `message` says what was seen, where, and both sides; `detail` more of it, line by line. `measured` is what was
    looked at and found in order. `evidence` are digests of the runs that decided it. `reproduce` is the command that
    shows the same with the fewest runs.
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


class FlagReport(msgspec.Struct, frozen=True):
    """The migration flag: its variable, what it was set to, and the path on which it should be when it is not set."""

    variable: str
    off: str
    on: str
    default_path: str
    flip_phase: int


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

    `runs` are the folders of the runs and their evidence, relative to the report. `exit_code` is that of the process:
    0 whatever the state is, where `report_only` asked for that.
    """

    schema: str = SCHEMA
    turnproof: str = __version__
    phase: int
    name: str
    goal: str
    state: State
    exit_code: int
    report_only: bool
    partial: bool
    depth: str
    seed: int
    started: str
    duration_s: float
    runs: tuple[str, ...]
    subjects: tuple[SubjectReport, ...]


def exit_code(state: State) -> Exit:
    """What a gate in this state gives a CI job."""
    return {State.OPEN: Exit.OK, State.CLOSED: Exit.VIOLATIONS}.get(state, Exit.UNDECIDED)


def gate_json(report: GateReport) -> bytes:
    """The report as indented JSON with sorted keys; equal reports are equal bytes."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"
