"""`gate-<phase>.md`: the gate on one page of Markdown, for a job summary or a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ...report._markdown import code_block, escape
from .decision_words import shortened
from .model import CriterionReport, GateReport, State, SubjectReport
from .terminal import LOOKS, flag_line, headline, remarks, scenarios_line


def gate_md(report: GateReport) -> str:
    """The page. What sessions, adapters and tests wrote is escaped."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: GateReport) -> Iterator[str]:
    yield f"# Gate of phase {report.phase}, {escape(report.name)}: {_state_text(report.state)}"
    yield ""
    yield escape(report.goal)
    for words in remarks(report):
        yield ""
        yield f"> {escape(words)}"
    for subject in report.subjects:
        yield ""
        yield from _subject(subject)


def _subject(subject: SubjectReport) -> Iterator[str]:
    yield f"## {escape(subject.name)}: {_state_text(subject.state)}"
    yield ""
    for words in (headline(subject), flag_line(subject), scenarios_line(subject)):
        yield f"- {escape(words)}"
    yield ""
    yield "| | criterion | state | |"
    yield "|---|---|---|---|"
    for criterion in subject.criteria:
        state = _state_text(criterion.state)
        yield f"| {criterion.side} | {escape(criterion.id)} | {state} | {escape(criterion.title)} |"
    for criterion in subject.criteria:
        if criterion.state in (State.CLOSED, State.UNDECIDED):
            yield ""
            yield from _criterion(criterion)


def _criterion(criterion: CriterionReport) -> Iterator[str]:
    yield f"### {_state_text(criterion.state)}: {escape(criterion.id)}"
    yield ""
    yield escape(criterion.message)
    if details := "\n".join(filter(None, [criterion.detail, *shortened([str(spot) for spot in criterion.spots])])):
        yield ""
        yield from code_block(details, "text")
    yield ""
    yield f"Why it matters: {escape(criterion.reason)}"
    if criterion.state is State.CLOSED:
        yield ""
        yield f"What to do: {escape(criterion.remedy)}"
    if criterion.reproduce:
        yield ""
        yield from code_block(criterion.reproduce, "sh")


def _state_text(state: State) -> str:
    look = LOOKS[state]
    return f"{look.symbol} {look.word}"
