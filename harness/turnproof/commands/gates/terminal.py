"""What a person reads at the end of a gate: a table of criteria, then a block for each that does not hold."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..._base.counts import counted
from ...report._inline_text import StatusStyle, one_line, printable
from ...report.terminal import console_for
from .decision_words import shortened
from .model import CriterionReport, GateReport, Regression, State, SubjectReport

LOOKS = {
    State.CLOSED: StatusStyle("✗", "closed", "red"),
    State.UNDECIDED: StatusStyle("?", "undecided", "yellow"),
    State.ACCEPTED: StatusStyle("!", "accepted", "yellow"),
    State.OPEN: StatusStyle("✓", "open", "green"),
    State.NOT_ASKED: StatusStyle("–", "not asked", "bright_black"),
}
"""How a state is shown: always symbol and word; the colour is an extra."""


def print_gate(report: GateReport, file: TextIO | None = None) -> None:
    """Write the gate to `file` (stdout by default). Without a terminal it is 120 columns wide and has no colour."""
    console = console_for(file or sys.stdout)
    look = LOOKS[report.state]
    console.print(
        Text.assemble(
            (f"gate of phase {report.phase}, {report.name}: ", "bold"),
            (f"{look.symbol} {look.word}", f"bold {look.colour}"),
        )
    )
    console.print(Text(report.goal))
    for words in remarks(report):
        console.print(Text(words, style="yellow"))
    for subject in report.subjects:
        _subject(console, subject)


def print_phases(reports: Sequence[GateReport], file: TextIO | None = None) -> None:
    """Write a line for each gate."""
    console = console_for(file or sys.stdout)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for report in reports:
        look = LOOKS[report.state]
        states = Counter(subject.state for subject in report.subjects)
        subjects = ", ".join(f"{states[state]} {LOOKS[state].word}" for state in LOOKS if states[state])
        table.add_row(
            f"phase {report.phase}, {report.name}",
            Text(f"{look.symbol} {look.word}", style=look.colour),
            f"{counted(len(report.subjects), 'subject')}: {subjects}",
            f"{report.duration_s:.0f} s",
        )
    console.print(table)


def remarks(report: GateReport) -> list[str]:
    """What has to be said about the gate as a whole."""
    sentences = []
    if report.partial:
        sentences.append("Only some scenarios were selected: a part cannot open the gate.")
    if report.out_of_order:
        sentences.append(
            f"Out of order: what phase {report.phase} builds on does not hold: {', '.join(report.out_of_order)}. "
            "Finish the earlier phase first."
        )
    sentences += [
        f"Accepted: {one.id} of {subject.name}: {one.message}"
        for subject in report.subjects
        for one in subject.criteria
        if one.state is State.ACCEPTED
    ]
    return sentences + _about_the_mode(report)


def _about_the_mode(report: GateReport) -> list[str]:
    would = f"Enforced, it would end with {report.gate_exit_code}."
    if report.mode == "report":
        return [f"Mode report: the exit code does not depend on the gate. {would}"]
    if report.mode == "enforce":
        return []
    if report.regressions:
        return [*(f"Mode shadow: {step_back(step)}" for step in report.regressions), would]
    if report.recorded:
        return [f"Mode shadow: nothing that was open when it was recorded has closed. {would}"]
    return [f"Mode shadow: nothing is recorded of this phase yet (--update-baseline does it). {would}"]


def step_back(step: Regression) -> str:
    """What is worse than it was recorded, in one line."""
    if step.new:
        return f"{step.criterion} of {step.subject} was closed already, and has more left: {', '.join(step.new)}"
    return f"{step.criterion} of {step.subject} was {step.was}, and is {step.now} now"


def headline(subject: SubjectReport) -> str:
    """Who is to pass, in one line."""
    return f"{subject.session} session on {subject.adapter} ({subject.dialect}, {subject.model}), {subject.backend}"


def flag_line(subject: SubjectReport) -> str:
    """The flag, and where it has to lead when it is not set."""
    flag = subject.flag
    if flag.gone:
        return f"flag {flag.variable}: gone by now; {flag.off!r} is to change nothing"
    return (
        f"flag {flag.variable}: off {flag.off!r}, on {flag.on!r}; not set, the {flag.default_path} path is due "
        f"(flip in phase {flag.flip_phase})"
    )


def _subject(console: Console, subject: SubjectReport) -> None:
    look = LOOKS[subject.state]
    console.print()
    console.print(
        Text.assemble((one_line(subject.name), "bold"), ": ", (f"{look.symbol} {look.word}", look.colour)),
        Text(one_line(headline(subject))),
        Text(one_line(flag_line(subject))),
        Text(one_line(scenarios_line(subject))),
        sep="\n",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "criterion", "", "measured"):
        table.add_column(column, no_wrap=column == "criterion")
    for criterion in subject.criteria:
        look = LOOKS[criterion.state]
        state = Text(f"{look.symbol} {look.word}", style=look.colour)
        measured = "; ".join(criterion.measured) if criterion.state is State.OPEN else ""
        if criterion.state in (State.NOT_ASKED, State.ACCEPTED):
            measured = criterion.message
        table.add_row(criterion.side, criterion.id, state, Text(one_line(measured), style="dim"))
    console.print(table)
    for criterion in subject.criteria:
        if criterion.state in (State.CLOSED, State.UNDECIDED):
            _block(console, criterion)


def scenarios_line(subject: SubjectReport) -> str:
    """How many scenarios were run, and what the others need."""
    left = sum(subject.left_out.values())
    needs = ", ".join(sorted({need for needs in subject.left_out for need in needs.split(", ")}))
    return counted(subject.scenarios, "scenario") + (f"; {left} left out, which need {needs}" if left else "")


def _block(console: Console, criterion: CriterionReport) -> None:
    look = LOOKS[criterion.state]
    console.print()
    console.print(Text(f"{look.symbol} {look.word} {criterion.id}: {criterion.title}", style=look.colour))
    console.print(Padding(Text(one_line(criterion.message)), (0, 0, 0, 2), expand=False))
    for row in printable(criterion.detail).splitlines():
        console.print(Padding(Text(row), (0, 0, 0, 4), expand=False))
    for row in shortened([str(spot) for spot in criterion.spots]):
        # Never wrapped: editors and terminals open what begins with file and line.
        console.print(Text(f"    {one_line(row)}"), soft_wrap=True)
    if criterion.state is State.CLOSED:
        console.print(Padding(Text(f"next: {criterion.remedy}"), (0, 0, 0, 2), expand=False))
    if criterion.evidence:
        console.print(Text(f"  evidence: {', '.join(digest[:12] for digest in criterion.evidence[:4])}", style="dim"))
    if criterion.reproduce:
        # Never wrapped: it is there to be copied.
        console.print(Text(f"  {printable(criterion.reproduce)}", style="dim"), soft_wrap=True)
