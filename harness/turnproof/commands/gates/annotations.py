"""A gate as annotations: each criterion that does not hold, beside the lines of source that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...report.annotations import Annotation, Level, relative_to
from .model import CriterionReport, GateReport, State, SubjectReport
from .terminal import step_back

_SPOTS = 5
"""So many lines of source are annotated for each criterion."""


def gate_annotations(report: GateReport, root: Path) -> list[Annotation]:
    """What a job shows of a gate. An error is what fails the job; in the other modes the same is a warning."""
    stepped_back = {(step.subject, step.criterion): step_back(step) for step in report.regressions}
    found = []
    for subject in report.subjects:
        for criterion in subject.criteria:
            back = stepped_back.get((subject.name, criterion.id), "")
            found += list(_annotations(report, subject, criterion, back, root))
    return found


def _annotations(
    report: GateReport, subject: SubjectReport, criterion: CriterionReport, back: str, root: Path
) -> Iterator[Annotation]:
    level = _level(report, criterion, back)
    if level is None:
        return
    title = f"{criterion.id} is {criterion.state}: {subject.name}"
    sentences = [back, criterion.message, f"next: {criterion.remedy}" if criterion.state is State.CLOSED else ""]
    message = "\n".join(line for line in sentences if line)
    if not criterion.spots:
        yield Annotation(level, title, message)
    for spot in criterion.spots[:_SPOTS]:
        yield Annotation(level, title, f"{spot.what}\n{message}", relative_to(str(root / spot.file), root), spot.line)


def _level(report: GateReport, criterion: CriterionReport, back: str) -> Level | None:
    if criterion.state in (State.OPEN, State.NOT_ASKED):
        return None
    if criterion.state is State.ACCEPTED:
        return "notice"
    fails = bool(back) if report.mode == "shadow" else report.mode == "enforce" and criterion.state is State.CLOSED
    return "error" if fails else "warning"
