"""What a doctor finds: one line each, and for each that is wrong what to do."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from ... import __version__
from ..._base.canonical import canonical
from ..._base.exit_codes import Exit

SCHEMA = "turnproof.doctor/1"


class State(StrEnum):
    """How a thing stands: `wrong` stands in the way, a `warning` may."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


class Diagnostic(msgspec.Struct, frozen=True):
    """`area` is `installation`, `machine`, `emulator`, or the binding by the name it was asked for.

    `what` was looked at, `said` is what was seen, `do` what to do about it; the last is there for all that is not ok.
    """

    area: str
    what: str
    state: State
    said: str
    do: str = ""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """All findings, in the order in which they were looked at. `bindings` are the areas that are no part of us."""

    bindings: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...]

    @property
    def exit_code(self) -> Exit:
        """2 where the installation, the machine or the emulator is wrong, 1 where a binding is, 0 otherwise."""
        wrong = {finding.area for finding in self.findings if finding.state is State.WRONG}
        if wrong - set(self.bindings):
            return Exit.FAULT
        return Exit.VIOLATIONS if wrong else Exit.OK


def diagnosis_json(diagnosis: Diagnosis) -> bytes:
    """The diagnosis as indented JSON with sorted keys; schema `turnproof.doctor/1`."""
    document = {
        "schema": SCHEMA,
        "turnproof": __version__,
        "exit_code": diagnosis.exit_code,
        **msgspec.structs.asdict(diagnosis),
    }
    return msgspec.json.format(canonical(document), indent=2) + b"\n"


def ok(area: str, subject: str, message: str) -> Diagnostic:
    """It stands as it should."""
    return Diagnostic(area, subject, State.OK, message)


def warning(area: str, subject: str, message: str, advice: str) -> Diagnostic:
    """It may stand in the way."""
    return Diagnostic(area, subject, State.WARNING, message, advice)


def wrong(area: str, subject: str, message: str, advice: str) -> Diagnostic:
    """It stands in the way."""
    return Diagnostic(area, subject, State.WRONG, message, advice)
