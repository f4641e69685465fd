"""`turnproof doctor`: the installation first, then the machine, then the emulator, then each binding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...dialects import api_of
from ...dialects import dialect as dialect_named
from ...errors import TurnproofError
from ...report.progress import Silence, Telling
from ...run.bindings import resolve_subject
from ...run.driver import Runner
from ...wire.controls import CONTROLS
from . import binding, emulator
from .claims import claims
from .installation import installation
from .machine import machine
from .model import Diagnosis, Diagnostic, State

_GUARD = "turnproof.commands.doctor.audit_hook"
LIMIT = 10.0
"""Seconds without a sign of life after which a round trip counts as hung."""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """`adapters` (sessions, too) are examined beside turnproof itself. `out` is where reports would go."""

    adapters: tuple[str, ...] = ()
    out: Path = Path("reports")


def examine(
    options: DoctorOptions,
    tracker: Telling | None = None,
    make: Callable[[], Runner] = lambda: Runner(jobs=1, time_limit=LIMIT),
) -> Diagnosis:
    """Look at everything. Raises nothing for what is found: it is in the diagnosis.

    Of no adapters the controls of all dialects are asked, of some those of their dialects. Where the machine is wrong,
    nothing is run on it.
    """
    tracker = tracker or Silence()
    found: list[Diagnostic] = []

    def add(findings: Iterator[Diagnostic]) -> None:
        for finding in findings:
            found.append(finding)
            tracker(len(found), 0, f"{finding.area}: {finding.what}")

    tracker.stage("looking at what is installed")
    add(installation(options.adapters))
    tracker.stage("looking at the machine")
    add(machine(options.out))
    if not any(one.state is State.WRONG for one in found if one.area == "machine"):
        with make() as runner:
            runner.warm([_GUARD])
            tracker.stage("holding a talk with each control")
            add(emulator.emulator(runner, _dialects(options.adapters)))
            for spec in options.adapters:
                tracker.stage(f"a round trip with {spec}")
                add(binding.binding(runner, spec))
                if not any(one.state is State.WRONG for one in found if one.area == spec):
                    tracker.stage(f"the claims of {spec}")
                    add(claims(runner, spec))
    return Diagnosis(bindings=options.adapters, findings=tuple(found))


def _dialects(adapters: tuple[str, ...]) -> list[str]:
    found = []
    for spec in adapters:
        try:
            found.append(dialect_named(resolve_subject(spec).dialect).name)
        except TurnproofError:  # told where the binding is examined
            continue
    return [name for name in found if api_of(name) in CONTROLS] or list(CONTROLS)
