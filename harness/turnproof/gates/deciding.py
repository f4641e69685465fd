"""From what was measured to the report on one subject."""

from __future__ import annotations

from typing import Literal

from ..errors import HarnessError
from ..verdict import Verdict
from .checks import decide
from .measured import Measured
from .measuring import Candidate
from .model import STATE_OF, CriterionReport, FlagReport, SubjectReport, gate_state
from .options import GateOptions
from .phases import Criterion, Phase, Phases


def subject_report(
    measured: Measured, candidate: Candidate, phases: Phases, phase: Phase, options: GateOptions, backend: str
) -> SubjectReport:
    """Every criterion of a phase for one subject, and where its gate stands. A pure function of what was measured.

    Raises HarnessError when a run failed for a reason that is turnproof's own: nothing can be said then.
    """
    _refuse_faults(measured)
    criteria = (
        *(_criterion(measured, candidate, "entry", criterion, options) for criterion in phases.criteria(phase.entry)),
        *(_criterion(measured, candidate, "exit", criterion, options) for criterion in phases.criteria(phase.exit)),
    )
    subject, flag = candidate.subject, candidate.flag
    return SubjectReport(
        name=subject.name,
        spec=candidate.spec,
        session=subject.session.name,
        adapter=subject.adapter.name,
        dialect=subject.dialect,
        model=subject.model,
        backend=backend,
        flag=FlagReport(flag.flag.variable, flag.off, flag.on, flag.path("default", phase.number), flag.flip_phase),
        state=gate_state(report.state for report in criteria),
        criteria=criteria,
        scenarios=len(candidate.scenarios),
        left_out=dict(candidate.left_out),
    )


def _refuse_faults(measured: Measured) -> None:
    for view in (*(view for views in measured.runs.values() for view in views), *measured.again):
        end = view.transcript.end
        if end.how == "harness-fault":
            raise HarnessError(f"{view.key} could not be run: {end.detail}")


def _criterion(
    measured: Measured,
    candidate: Candidate,
    side: Literal["entry", "exit"],
    criterion: Criterion,
    options: GateOptions,
) -> CriterionReport:
    verdict = decide(measured, criterion)
    return CriterionReport(
        id=criterion.id,
        side=side,
        title=criterion.title,
        check=criterion.check,
        state=STATE_OF[verdict.status],
        message=verdict.message,
        # One line of it stands in the message already.
        detail=verdict.detail if "\n" in verdict.detail or criterion.check == "existing-tests" else "",
        measured=verdict.compared,
        evidence=verdict.evidence,
        reproduce=_reproduce(verdict, candidate, criterion, options),
        reason=criterion.reason,
        remedy=criterion.remedy,
        sources=criterion.sources,
    )


def _reproduce(verdict: Verdict, candidate: Candidate, criterion: Criterion, options: GateOptions) -> str:
    if criterion.check == "existing-tests" or not verdict.where:
        return verdict.where
    # `where` is the text of a run's key: scenario/path/mode, and the scenario's name has slashes of its own.
    scenario = verdict.where.rsplit("/", 2)[0]
    return options.reproduce(candidate.spec, scenario)
