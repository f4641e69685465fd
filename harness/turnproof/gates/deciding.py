"""From what was measured to the report on one subject."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from msgspec.structs import replace

from ..errors import HarnessError
from ..verdict import Verdict
from .accepting import exempted, names_of
from .checks import decide
from .measured import Measured
from .measuring import Candidate
from .model import STATE_OF, CriterionReport, FlagReport, SubjectReport, gate_state
from .options import GateOptions
from .phases import Criterion, Phase, Phases

Side: TypeAlias = Literal["entry", "exit"]


def subject_report(
    measured: Measured, candidate: Candidate, phases: Phases, phase: Phase, options: GateOptions, backend: str
) -> SubjectReport:
    """Every criterion of a phase for one subject, and where its gate stands. A pure function of what was measured.

    Raises HarnessError when a run failed for a reason that is turnproof's own: nothing can be said then.
    """
    _refuse_faults(measured)
    both: dict[Side, tuple[Criterion, ...]] = {"entry": phases.entry(phase), "exit": phases.exit(phase)}
    found = [_criterion(measured, candidate, side, one, options) for side in both for one in both[side]]
    exemptions, names = options.config.settings.gates.exemption, names_of(candidate.spec, candidate.subject)
    criteria = tuple(exempted(one, exemptions, names, measured.today, whole=options.everything) for one in found)
    subject, flag = candidate.subject, candidate.flag
    return SubjectReport(
        name=subject.name,
        spec=candidate.spec,
        session=subject.session.name.removesuffix(f"@{subject.adapter.name}"),
        adapter=subject.adapter.name,
        dialect=subject.dialect,
        model=subject.model,
        backend=backend,
        flag=FlagReport(
            flag.flag.variable,
            flag.off,
            flag.on,
            flag.path("default", phase.number),
            flag.flip_phase,
            gone=phase.flag == "gone",
        ),
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
    side: Side,
    criterion: Criterion,
    options: GateOptions,
) -> CriterionReport:
    verdict, spots, left = decide(measured, criterion)
    return CriterionReport(
        id=criterion.id,
        side=side,
        title=criterion.title,
        check=criterion.check,
        state=STATE_OF[verdict.status],
        message=verdict.message,
        # One line of it stands in the message already.
        detail="" if verdict.detail in verdict.message else verdict.detail,
        measured=verdict.compared,
        evidence=verdict.evidence,
        reproduce=_reproduce(verdict, candidate, criterion, options),
        reason=criterion.reason,
        remedy=criterion.remedy,
        sources=criterion.sources,
        left=left,
        spots=tuple(replace(spot, file=_from(options.folder, spot.file)) for spot in spots),
    )


def _from(folder: Path, file: str) -> str:
    """A file of the project from its folder; another one as it is."""
    path = Path(file)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else file


def _reproduce(verdict: Verdict, candidate: Candidate, criterion: Criterion, options: GateOptions) -> str:
    if criterion.check == "existing-tests" or not verdict.where:
        return verdict.where
    # `where` is the text of a run's key: scenario/path/mode, and the scenario's name has slashes of its own.
    scenario = verdict.where.rsplit("/", 2)[0]
    return options.reproduce(candidate.spec, scenario)
