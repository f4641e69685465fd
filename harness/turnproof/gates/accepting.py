"""What is accepted for now: known issues of requirements, and exemptions of adapters from criteria.

Either has a reason and a day on which it ends. One that has expired, has no reason, or is no longer needed closes the
criterion that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from msgspec.structs import replace

from .._suggest import did_you_mean
from ..config import Exemption
from ..errors import UsageError
from ..known_issues import apply_known_issues
from ..provider import Path
from ..runlog import ResultLine
from ..subject import Subject
from ..verdict import Verdict, violated
from .measured import Measured
from .model import CriterionReport, State
from .phases import Phases


def accepted(measured: Measured, requirement: str, path: Path, verdict: Verdict) -> Verdict:
    """The verdict on a requirement, as the known issues leave it."""
    name = measured.subject.name
    issues = [replace(one, adapter=name) for one in measured.issues if one.key[1:] == (requirement, path)]
    line = ResultLine(adapter=name, requirement=requirement, path=path, verdict=verdict)
    in_part = () if measured.whole else (requirement,)
    (marked,), problems = apply_known_issues([line], issues, measured.today, in_part=in_part)
    return violated(problems[0]) if problems else marked.verdict


def names_of(spec: str, subject: Subject) -> set[str]:
    """What a subject may be called in the settings."""
    return {spec, subject.name, subject.adapter.name, spec.rpartition("@")[2]}


def exempted(
    report: CriterionReport, exemptions: Iterable[Exemption], names: set[str], today: date, *, whole: bool
) -> CriterionReport:
    """A criterion as the exemptions of this subject leave it. Without all scenarios nobody knows what is not needed."""
    for exemption in exemptions:
        if exemption.adapter in names and exemption.criterion == report.id:
            return _exempted(report, exemption, today, whole=whole)
    return report


def _exempted(report: CriterionReport, exemption: Exemption, today: date, *, whole: bool) -> CriterionReport:
    needed = report.state in (State.CLOSED, State.UNDECIDED)
    problem = ""
    if not exemption.reason.strip():
        problem = "it has no reason; write down why it need not hold"
    elif exemption.expires < today:
        problem = f"it expired on {exemption.expires}; mend the adapter, or extend it with a reason"
    elif not needed and whole:
        problem = f"it is no longer needed (now {report.state}); remove the entry"
    if problem:
        return replace(report, state=State.CLOSED, message=_joined(f"{exemption}: {problem}", report), measured=())
    if not needed:
        return report
    link = f" ({exemption.link})" if exemption.link else ""
    said = f"exempt until {exemption.expires}: {exemption.reason}{link}"
    return replace(report, state=State.ACCEPTED, message=_joined(said, report))


def _joined(said: str, report: CriterionReport) -> str:
    return f"{said} — {report.message}" if report.message else said


def check_exemptions(
    exemptions: Sequence[Exemption], phases: Phases, phase: int, subjects: Iterable[set[str]], *, every: bool
) -> None:
    """Raise UsageError for an exemption from a criterion that there is not; and, where `every` adapter takes part, for
    one of an adapter that is none of them."""
    ids = [criterion.id for criterion in phases.criterion]
    asked = {*phases[phase].entry, *phases[phase].exit}
    known = set().union(*subjects)
    for number, exemption in enumerate(exemptions):
        spot = f"gates: exemption[{number}]"
        if exemption.criterion not in ids:
            hint = did_you_mean(exemption.criterion, ids)
            raise UsageError(f"{spot}: no criterion has the id {exemption.criterion!r}{hint}")
        if every and exemption.criterion in asked and exemption.adapter not in known:
            hint = did_you_mean(exemption.adapter, known) or f" (there are {', '.join(sorted(known))})"
            raise UsageError(f"{spot}: no adapter of this gate is called {exemption.adapter!r}{hint}")
