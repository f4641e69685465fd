"""What a person reads at the end of an exploration: each finding with its reason, its scenario and a command."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..._base.counts import counted
from ...report._inline_text import LOOKS, one_line, printable
from ...report.terminal import console_for
from .report import Exploration, FoundScenario
from .trial import Failure


def print_exploration(exploration: Exploration, file: TextIO) -> None:
    """Write everything that was found. Without a terminal it is 120 columns wide and has no colour."""
    console = console_for(file)
    for finding in exploration.findings:
        _finding(console, finding)
    for once in exploration.unsteady:
        message = f"{_name(once.failure)} [{once.failure.path}] failed once and not again: {once.failure.message}"
        console.print(Text(one_line(f"? unsteady {message}"), style="yellow"))
        console.print(Text(f"  {printable(once.file)}", style="dim"), soft_wrap=True)
    console.print(Text(_summary(exploration), style="bold"))


def _finding(console: Console, finding: FoundScenario) -> None:
    for failure in finding.failures:
        look = LOOKS[failure.status]
        console.print(Text(f"{look.symbol} {look.word} {_name(failure)} [{failure.path}]", style=look.colour))
        _indented(console, one_line(failure.message))
    if finding.ours:
        console.print(Text("  turnproof's own control fails in the same way, so no subject is blamed", style="yellow"))
    _indented(console, f"{finding.title}. {finding.remedy}")
    console.print()
    _indented(console, printable(finding.scenario.rstrip()))
    console.print()
    # Never wrapped: it is there to be copied.
    console.print(Text(f"  {printable(finding.command)}", style="dim"), soft_wrap=True)
    console.print()


def _indented(console: Console, text: str) -> None:
    console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))


def _name(failure: Failure) -> str:
    return failure.what if failure.kind == "requirement" else f"the undeclared difference {failure.what}"


def _summary(exploration: Exploration) -> str:
    count = len(exploration.findings)
    what = counted(count, "failing scenario") if count else "nothing"
    cut = " before it was interrupted" if exploration.interrupted else ""
    tried = f"{counted(exploration.examples, 'scenario')} tried with seed {exploration.seed}"
    return f"{exploration.subject}: {tried}, {what} found{cut}"
