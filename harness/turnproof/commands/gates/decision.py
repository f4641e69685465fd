"""What a check says of a criterion: its status, and why, reason by reason. Data alone; words are made at the edge."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Literal

import msgspec

from ...judge.finding import Finding
from ...judge.verdict import Status, worst
from .phases import Setting


class Spot(msgspec.Struct, frozen=True, order=True):
    """A line of source, and what stands there. `file` is absolute, and in a report relative to the project's folder."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class Acceptance(msgspec.Struct, frozen=True):
    """Why something need not hold for now: a known issue of a requirement, or an exemption from a criterion."""

    kind: Literal["known-issue", "exemption"]
    expires: date
    reason: str
    link: str = ""


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason for a status other than held.

    `finding` has the code, the place and both sides: a requirement's own finding, or one with a code `gate/CHECK/WHAT`.
    `setting` is how the flag stood in the run of that place, and `spot` the line of source that it is about. `name`
    names it among what is left, the same from run to run. `command` shows it again where no run does. `evidence` are
    digests of runs. `acceptance` says why it need not hold for now.
    """

    status: Status
    finding: Finding
    setting: Setting | None = None
    spot: Spot | None = None
    name: str = ""
    command: str = ""
    evidence: tuple[str, ...] = ()
    acceptance: Acceptance | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of a criterion. Make one with `decided` or `combined`.

    Whatever is not held has at least one of the `reasons`, the first of which is told first; `more` counts those of
    which there were too many to list. What is held has `compared` something.
    """

    status: Status
    reasons: tuple[Reason, ...] = ()
    compared: tuple[str, ...] = ()
    more: int = 0

    @property
    def left(self) -> tuple[str, ...]:
        """The names, one by one, of what keeps the criterion closed, so that two gates can be compared: sorted, stable
        from run to run, and without numbers of lines."""
        return tuple(sorted({reason.name for reason in self.reasons if reason.name}))

    @property
    def spots(self) -> tuple[Spot, ...]:
        """The lines of source that it is about."""
        return tuple(sorted({reason.spot for reason in self.reasons if reason.spot is not None}))

    @property
    def evidence(self) -> tuple[str, ...]:
        """Digests of the runs that decided it."""
        return tuple(dict.fromkeys(digest for reason in self.reasons for digest in reason.evidence if digest))

    @property
    def scenario(self) -> str:
        """A scenario that shows it; empty where no run does."""
        return next((one.finding.place.scenario for one in self.reasons if one.finding.place.scenario), "")

    @property
    def command(self) -> str:
        """A command that shows it, where it is no run that does; else empty."""
        return next((reason.command for reason in self.reasons if reason.command), "")


def decided(reasons: Iterable[Reason] = (), compared: Iterable[str] = (), more: int = 0) -> Decision:
    """The heaviest status, with its reasons. Raises ValueError for neither a reason nor anything compared: nothing
    measured is no success."""
    found, looked_at = tuple(reasons), tuple(dict.fromkeys(compared))
    if not found and not looked_at:
        raise ValueError("a decision needs a reason, or something that was compared")
    status = worst([*(reason.status for reason in found), *([Status.HELD] if looked_at else [])])
    heaviest_reasons = tuple(reason for reason in found if reason.status is status)
    return Decision(
        status=status, reasons=heaviest_reasons, compared=looked_at if status is Status.HELD else (), more=more
    )


def combined(decisions: Iterable[Decision]) -> Decision:
    """Several decisions as one: the heaviest status, with all its reasons. Raises ValueError for none."""
    every = list(decisions)
    status = worst(one.status for one in every)
    chosen = [one for one in every if one.status is status]
    return decided(
        (reason for one in chosen for reason in one.reasons),
        (what for one in chosen for what in one.compared),
        sum(one.more for one in chosen),
    )


def with_counts(things: Iterable[tuple[str, int]]) -> list[str]:
    """Things with how often they occurred: `a turn ×12`."""
    return [f"{what} ×{times}" if times > 1 else what for what, times in things]
