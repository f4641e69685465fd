"""The gates of all phases, one after another: what several of them run in the same way is run once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..._base.exit_codes import Exit
from ...errors import UsageError
from ...judge.requirements import load_suite
from ...scenarios import Scenario
from ..certify.run_store import MadeWith
from .engine import gate, subjects_of
from .gate_run_store import GateRunStore
from .model import GateReport
from .options import GateOptions
from .phases import load_phases

_WORST_FIRST = (Exit.VIOLATIONS, Exit.UNDECIDED)


def gate_every_phase(
    options: GateOptions,
    done: Callable[[GateReport], object] = lambda report: None,
    scenarios: Sequence[Scenario] | None = None,
) -> tuple[GateReport, ...]:
    """The gate of each phase, whatever `options.phase` says; `done` gets each report as soon as it is ready.

    Each writes what it writes alone. With `options.resume` the runs that an interrupted command made are taken over.
    Raises as `gate` does, for whatever subjects lack before anything is run.
    """
    phases = [phase for phase in load_phases().phase if phase.exit]
    each = [replace(options, phase=phase.number) for phase in phases]
    try:
        subjects = [
            subject for one, phase in zip(each, phases, strict=True) for subject in subjects_of(one, phase).values()
        ]
    except UsageError as error:
        raise UsageError(f"{error}; give one --phase at a time") from error
    made_with = MadeWith.here(load_suite(), subjects, options.seed)
    folder = options.out / "gates.kept"
    if not options.resume:
        GateRunStore(folder, made_with).remove()
    store = GateRunStore(folder, made_with)
    reports = []
    try:
        for one in each:
            reports.append(gate(one, scenarios, store))
            done(reports[-1])
    except BaseException:
        if not options.resume:
            store.remove()
        raise
    store.remove()
    return tuple(reports)


def worst_exit_code(reports: Sequence[GateReport]) -> Exit:
    """The exit code of them all: 1 if one of them ends with it, else 3 if one does, else 0."""
    codes = {report.exit_code for report in reports}
    return next((code for code in _WORST_FIRST if code in codes), Exit.OK)
