"""From what was measured to the report on one subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec.structs import replace

from ...errors import HarnessError
from ...judge.verdict import MOST_FINDINGS
from .checks import decide
from .decision import Decision, Reason, Spot
from .decision_words import Wording
from .exemptions import exempted, names_of
from .measure import Candidate
from .measurement import Measured
from .model import STATE_OF, CriterionReport, FindingReport, FlagReport, SubjectReport, gate_state
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
    criteria = tuple(_criterion(measured, candidate, side, one, options) for side in both for one in both[side])
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
    exemptions, names = options.config.settings.gates.exemption, names_of(candidate.spec, candidate.subject)
    decision = decide(measured, criterion)
    decision = exempted(decision, criterion.id, exemptions, names, measured.today, all_scenarios=options.everything)
    wording = Wording.for_measured(measured)
    return CriterionReport(
        id=criterion.id,
        side=side,
        title=criterion.title,
        check=criterion.check,
        state=STATE_OF[decision.status],
        message=wording.message(decision),
        detail=wording.detail(decision),
        measured=decision.compared,
        evidence=decision.evidence,
        reproduce=_reproduce(decision, candidate, options),
        reason=criterion.reason,
        remedy=criterion.remedy,
        sources=criterion.sources,
        left=decision.left,
        spots=tuple(_from(options.folder, spot) for spot in decision.spots),
        findings=tuple(_finding(reason, wording, options) for reason in _first_reasons(decision)),
    )


def _first_reasons(decision: Decision) -> Iterator[Reason]:
    """Of each code and root the first reasons, as many as a report can bear."""
    counts: Counter[tuple[str, str]] = Counter()
    for reason in decision.reasons:
        kind = (reason.finding.root, reason.finding.code)
        counts[kind] += 1
        if counts[kind] <= MOST_FINDINGS:
            yield reason


def _finding(reason: Reason, wording: Wording, options: GateOptions) -> FindingReport:
    words = wording.words(reason)
    return FindingReport(
        finding=reason.finding,
        title=words.title,
        expected=words.expected,
        got=words.got,
        where=words.where,
        setting=reason.setting,
        spot=None if reason.spot is None else _from(options.folder, reason.spot),
    )


def _from(folder: Path, spot: Spot) -> Spot:
    """A spot with its file from the project's folder; one outside of it as it is."""
    path = Path(spot.file)
    return replace(spot, file=path.relative_to(folder).as_posix()) if path.is_relative_to(folder) else spot


def _reproduce(decision: Decision, candidate: Candidate, options: GateOptions) -> str:
    """The command that shows it: its own, or the gate of the scenario where the first reason was seen."""
    if decision.command or not decision.scenario:
        return decision.command
    return options.reproduce(candidate.spec, decision.scenario)
