"""How a diagnosis reads on a terminal."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TextIO

from rich.table import Table
from rich.text import Text

from ...report._inline_text import StatusStyle, one_line
from ...report.terminal import console_for
from .model import Diagnosis, Diagnostic, State

LOOKS = {
    State.OK: StatusStyle("✓", "ok", "green"),
    State.WARNING: StatusStyle("!", "warning", "yellow"),
    State.WRONG: StatusStyle("✗", "wrong", "red"),
}
"""How a state is shown: always symbol and word; the colour is an extra."""


def print_diagnosis(diagnosis: Diagnosis, file: TextIO | None = None) -> None:
    """Write the list to `file` (stdout by default): by area, and below all that is not ok what to do."""
    console = console_for(file or sys.stdout)
    for area, findings in groupby(diagnosis.findings, key=lambda finding: finding.area):
        console.print()
        console.print(Text(one_line(area), style="bold"))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, min_width=9)
        table.add_column(no_wrap=True, max_width=max(16, console.width // 4), overflow="ellipsis")
        table.add_column(overflow="fold")
        for finding in findings:
            look = LOOKS[finding.state]
            table.add_row(
                Text(f"{look.symbol} {look.word}", look.colour), one_line(finding.what), _finding_text(finding)
            )
        console.print(table)
    console.print()
    console.print(Text(_counts(diagnosis), style="bold"))


def _finding_text(finding: Diagnostic) -> Text:
    text = Text(one_line(finding.said))
    if finding.do:
        text.append(f"\n→ {one_line(finding.do)}", style="bold")
    return text


def _counts(diagnosis: Diagnosis) -> str:
    states = [finding.state for finding in diagnosis.findings]
    counts = [f"{states.count(state)} {LOOKS[state].word}" for state in State if state in states]
    return ", ".join(counts)
