"""What an exploration found."""

from __future__ import annotations

import msgspec

from ..._base.canonical import canonical
from ..._base.exit_codes import Exit
from ...judge.verdict import Status
from .trial import Failure


class FoundScenario(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario that fails, as small as it could be made, in a file that `certify` and `compare` take.

    `failures` are all that its runs show; the first is the one that it was made small for. `title` and `remedy` are
    those of its requirement, or of the kind of difference. `example` counts the scenarios tried until it came up,
    `attempts` those tried to make it small. `ours` says that turnproof's own control fails in the same way, so that
    nobody else can be accused.
    """

    file: str
    failures: tuple[Failure, ...]
    title: str
    remedy: str
    example: int
    attempts: int
    scenario: str
    command: str
    ours: bool = False


class Unsteady(msgspec.Struct, frozen=True, kw_only=True):
    """A failure that was seen once and not again, and the file of its scenario. Nobody is accused of it."""

    file: str
    failure: Failure


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried and what came of it.

    `examples` counts the scenarios that were tried, `runs` also those that served to make findings smaller.
    """

    schema: str = "turnproof.explore/1"
    subject: str
    seed: int
    examples: int
    runs: int
    duration_s: float
    findings: tuple[FoundScenario, ...] = ()
    unsteady: tuple[Unsteady, ...] = ()
    interrupted: bool = False

    @property
    def exit_code(self) -> Exit:
        """0 where all is well, 1 for a violation, 3 where nothing was tried or something could not be decided."""
        if self.interrupted:
            return Exit.INTERRUPTED
        if any(finding.ours for finding in self.findings):
            return Exit.FAULT
        if any(failure.status is Status.VIOLATED for finding in self.findings for failure in finding.failures):
            return Exit.VIOLATIONS
        return Exit.UNDECIDED if self.findings or not self.examples else Exit.OK


def to_json(exploration: Exploration) -> str:
    """The exploration as JSON (schema `turnproof.explore/1`)."""
    return msgspec.json.format(canonical(exploration), indent=2).decode() + "\n"
