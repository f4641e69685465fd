"""The matrix of hand-offs, for machines, for a page, and for a terminal.

All three say the same: for each ordered pair of parties whether the conversation went there and back, what could not
travel, and which requirements were broken on the way.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TextIO

import msgspec
from rich.table import Table
from rich.text import Text

from .._base.canonical import canonical
from .._base.counts import counted
from ..judge.requirements import Level
from ._inline_text import one_line
from ._markdown import escape
from .handoff import Fate, Handoff, Loss, Party, Route, Unmet, transfer_losses
from .terminal import console_for

FATES: dict[Fate, str] = {
    "left-out": "left out",
    "unsigned": "sent without its signature",
    "told": "described in words",
    "renamed": "sent under another id or name",
}
"""What became of a part, in words, the heaviest first."""


_PLAIN_WIDTH, _ROW, _COLUMN = 120, 40, 4
"""Columns of text without a terminal, and what the table needs of them."""

_WHOLE, _BROKEN = "✓", "✗"
_LEGEND = (
    f"{_WHOLE} everything travelled as it was; a number: parts that could not, over all places of the change; "
    f"{_BROKEN} a MUST is violated or open, there or on the way back"
)


def handoff_json(matrix: Handoff) -> bytes:
    """`handoff.json`: sorted, indented, one line feed at its end."""
    return msgspec.json.format(canonical(matrix), indent=2) + b"\n"


def handoff_md(matrix: Handoff) -> str:
    """The matrix and the loss report as Markdown."""
    lines = ["# Hand-off", "", escape(_headline(matrix)), ""]
    lines += [f"- `{name}` takes no part: {escape(reason)}" for name, reason in matrix.left_out.items()]
    lines += ["", *_table(matrix), "", _LEGEND, "", "## What could not travel", ""]
    for pair, losses in _losses(matrix):
        lines.append(f"- **{escape(pair)}**: {escape(_loss_counts(losses))}")
        lines += [f"  - {escape(line)}" for line in _examples(losses)]
    lines += ["", "## What broke", ""]
    broken = [f"- {escape(line)}" for line in _broken_requirements(matrix)]
    lines += broken or ["Nothing."]
    return "\n".join(lines) + "\n"


def print_handoff(matrix: Handoff, file: TextIO | None = None, *, verbose: bool = False) -> None:
    """Write the matrix to `file` (stdout by default): a row for who begins, a column for who goes on.

    With `verbose`, also every kind of part that could not travel, with an example.
    """
    console = console_for(file or sys.stdout, max(_PLAIN_WIDTH, _ROW + _COLUMN * len(matrix.parties)))
    console.print(Text(_headline(matrix), style="bold"))
    for name, reason in matrix.left_out.items():
        console.print(Text(one_line(f"{name} takes no part: {reason}"), style="dim"))
    table = Table(box=None, pad_edge=False)
    table.add_column("begins", no_wrap=True)
    for n, _ in enumerate(matrix.parties, 1):
        table.add_column(str(n), no_wrap=True)
    for n, begins in enumerate(matrix.parties, 1):
        cells = [_cell(matrix, begins, goes_to) for goes_to in matrix.parties]
        table.add_row(f"{n:2} {one_line(begins.label)}", *cells)
    console.print(table)
    console.print(Text(_LEGEND, style="dim"))
    if verbose:
        for pair, losses in _losses(matrix):
            console.print(Text(f"{pair}: {_loss_counts(losses)}"))
            for line in _examples(losses):
                console.print(Text(f"    {one_line(line)}", style="dim"))
    for line in _broken_requirements(matrix):
        console.print(Text(one_line(line), style="red"))


def _headline(matrix: Handoff) -> str:
    sound = sum(route.sound for route in matrix.routes)
    back = [leg for route in matrix.routes for leg in route.legs[2:]]
    signed, restored = sum(leg.signed for leg in back), sum(leg.restored for leg in back)
    return (
        f"{matrix.scenario}: sound are {sound} of {counted(len(matrix.routes), 'route')} there and back between "
        f"{counted(len(matrix.parties), 'party')}; {restored} of {counted(signed, 'signed part')} restored on return "
        f"({matrix.duration_s:.0f} s, emulated)"
    )


def _table(matrix: Handoff) -> Iterator[str]:
    yield f"| begins \\ goes on | {' | '.join(escape(party.label) for party in matrix.parties)} |"
    yield "|---" * (len(matrix.parties) + 1) + "|"
    for begins in matrix.parties:
        cells = [escape(_cell(matrix, begins, goes_to)) for goes_to in matrix.parties]
        yield f"| {escape(begins.label)} | {' | '.join(cells)} |"


def _cell(matrix: Handoff, begins: Party, goes_to: Party) -> str:
    routes = matrix.between(begins, goes_to)
    if not routes:
        return "-"
    if not all(route.sound for route in routes):
        return _BROKEN
    count = sum(matrix.losses(begins, goes_to).values())
    return str(count) if count else _WHOLE


def _losses(matrix: Handoff) -> Iterator[tuple[str, list[Loss]]]:
    for begins in matrix.parties:
        for goes_to in matrix.parties:
            losses = [loss for route in matrix.between(begins, goes_to) for loss in transfer_losses(route)]
            if losses:
                yield f"{begins.label} → {goes_to.label}", losses


def _loss_counts(losses: list[Loss]) -> str:
    counts = Counter((loss.fate, loss.part) for loss in losses)
    ordered = sorted(counts.items(), key=lambda item: (list(FATES).index(item[0][0]), item[0][1]))
    return ", ".join(f"{count} {part} {FATES[fate]}" for (fate, part), count in ordered)


def _examples(losses: list[Loss]) -> Iterator[str]:
    """The first part of each fate and kind."""
    seen: set[tuple[str, str]] = set()
    for loss in losses:
        if (loss.fate, loss.part) not in seen:
            seen.add((loss.fate, loss.part))
            issuer = f", signed by {loss.issuer}" if loss.issuer else ""
            yield f"{loss.place}: {loss.part} {loss.shown!r}{issuer} is {FATES[loss.fate]}"


def _broken_requirements(matrix: Handoff) -> Iterator[str]:
    """A line for each requirement that a party violates or leaves open, with the first route that shows it."""
    shown: dict[tuple[str, Party, str], list[tuple[str, Unmet]]] = {}
    for route in matrix.routes:
        for number, leg in enumerate(route.legs, 1):
            for word, findings in (("violates", leg.violated), ("leaves open", _musts(leg.undecided))):
                for finding in findings:
                    where = f"leg {number} of {_route_name(route)}, evidence {leg.evidence[:12]}"
                    shown.setdefault((word, leg.party, finding.requirement), []).append((where, finding))
    for (word, party, requirement), found in shown.items():
        where, finding = found[0]
        times = f", and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"{party.label} {word} {finding.level} {requirement}: {finding.message} [{where}{times}]"
    for short in (route for route in matrix.routes if len(route.legs) < 3):
        yield f"{_route_name(short)}: the conversation did not come further than leg {len(short.legs)}"


def _musts(findings: Iterable[Unmet]) -> Iterator[Unmet]:
    return (finding for finding in findings if finding.level is Level.MUST)


def _route_name(route: Route) -> str:
    return f"{route.begins.label} → {route.goes_to.label} after turn {route.after}"
