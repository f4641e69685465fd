"""How a diff of two certifications reads: on a terminal, and as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TextIO

import msgspec
from rich.padding import Padding
from rich.text import Text

from .._base.counts import counted
from ..judge.verdict import Status
from ._inline_text import StatusStyle, one_line, printable, shorten
from ._markdown import code_block, escape
from .certification_diff import Change, Diff, Kind
from .finding_changes import FindingChange
from .finding_groups import location, word_rows
from .limits import DIFF_FINDINGS, DIFF_LINES, DIFF_PAGE_FINDINGS, DIFF_VALUE_CHARACTERS
from .terminal import console_for

LOOKS = {
    Kind.NEW: StatusStyle("✗", "new", "red"),
    Kind.CHANGED: StatusStyle("≈", "changed", "yellow"),
    Kind.STILL: StatusStyle("!", "still there", "magenta"),
    Kind.FIXED: StatusStyle("✓", "fixed", "green"),
    Kind.GONE: StatusStyle("?", "no longer measured", "yellow"),
    Kind.FOUND: StatusStyle("+", "newly measured", "cyan"),
}
"""How each kind of change is shown: always symbol and word; the colour is an extra."""


@dataclass(frozen=True, slots=True)
class Line:
    """Changes that read alike: one requirement on several paths, or, of what is of no concern by itself, many."""

    what: str
    change: Change
    alone: bool


def lines_of(report: Diff, kind: Kind) -> list[Line]:
    """The changes of a kind, those that read alike together."""
    found = report.of(kind)
    singly = [change for change in found if _is_told_singly(change)]
    rest = [change for change in found if not _is_told_singly(change)]
    together: dict[tuple[Any, ...], list[Change]] = {}
    for one in singly:
        together.setdefault((one.adapter, one.requirement, one.why, *_findings_key(one)), []).append(one)
    lines = []
    for changes in together.values():
        paths = ", ".join(change.path for change in changes)
        should = "" if changes[0].level == "MUST" else ", SHOULD"
        lines.append(Line(f"{changes[0].adapter} {changes[0].requirement} [{paths}]{should}", changes[0], True))
    for of, group in groupby(sorted(rest, key=_of_no_concern), key=_of_no_concern):
        adapter, status, why = of
        word = f"{status} before" if kind is Kind.GONE else status
        many = list(group)
        lines.append(Line(f"{adapter}: {len(many)} {word}{f'; {why}' if why else ''}", many[0], False))
    return lines


def _is_told_singly(change: Change) -> bool:
    return change.kind not in (Kind.GONE, Kind.FOUND) or Status.VIOLATED in (change.before, change.after)


def _of_no_concern(change: Change) -> tuple[str, str, str]:
    status = change.before if change.kind is Kind.GONE else change.after
    return change.adapter, status, change.why


def _findings_key(change: Change) -> Iterator[object]:
    """What was found, as far as two paths may have it in common; of what is told in words alone, the words."""
    for findings in (change.new, change.fixed, change.still, change.undecided):
        yield tuple(
            (one.code, *msgspec.structs.astuple(msgspec.structs.replace(one.place, path=""))) for one in findings
        )
    if not (change.new or change.fixed or change.still or change.undecided):
        yield from (change.before_message, change.after_message, change.where)


def print_diff(report: Diff, file: TextIO | None = None, *, verbose: bool = False) -> None:
    """Write the diff to `file` (stdout by default). With `verbose` everything is told, with the words of both sides."""
    console = console_for(file or sys.stdout)
    for word, side in _head(report):
        console.print(Text(printable(f"{word:<6}  {side}")))
    if report.circumstances:
        console.print()
        console.print(Text("Not the same, and may explain what differs:", style="bold"))
        rows = list(_circumstances(report))
        wide = min(30, max(len(what) for what, _, _ in rows))
        for what, before, after in rows:
            words = f"{one_line(what):<{wide}}  {one_line(before)} → {one_line(after)}"
            console.print(Padding(Text(printable(words)), (0, 0, 0, 2), expand=False))
    for kind in Kind:
        if not report.counts[kind]:
            continue
        look, lines = LOOKS[kind], lines_of(report, kind)
        console.print()
        console.print(Text(f"{look.symbol} {look.word} ({report.counts[kind]})", style=look.colour))
        shown = lines if verbose else lines[:DIFF_LINES]
        for line in shown:
            console.print(Text(f"  {one_line(line.what)}"))
            for depth, text in _line_rows(line, verbose=verbose):
                console.print(Padding(Text(one_line(text), style="dim"), (0, 0, 0, 4 + 2 * depth), expand=False))
            if line.alone and kind in (Kind.NEW, Kind.FOUND):
                # Never wrapped: it is there to be copied.
                console.print(Text(f"    {printable(line.change.reproduce)}", style="dim"), soft_wrap=True)
        if len(lines) > len(shown):
            console.print(Text(f"  and {len(lines) - len(shown)} more; -v shows them"))
    console.print()
    console.print(Text(_foot(report), style="bold"))


def diff_md(report: Diff) -> str:
    """`diff.md`: the same as GitHub-flavoured Markdown."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: Diff) -> Iterator[str]:
    yield "# turnproof diff"
    for word, side in _head(report):
        yield ""
        yield f"{word}: {escape(side)}"
    if report.circumstances:
        yield ""
        yield "| not the same | before | after |"
        yield "|---|---|---|"
        for cells in _circumstances(report):
            yield f"| {' | '.join(map(escape, cells))} |"
    for kind in Kind:
        if not report.counts[kind]:
            continue
        look = LOOKS[kind]
        yield ""
        yield f"## {look.symbol} {look.word} ({report.counts[kind]})"
        yield ""
        for line in lines_of(report, kind):
            yield f"- {escape(line.what)}"
            yield from (
                f"{'  ' * (depth + 1)}- {escape(text)}"
                for depth, text in _line_rows(line, verbose=True, most=DIFF_PAGE_FINDINGS)
            )
        if kind is Kind.NEW:
            commands = dict.fromkeys(line.change.reproduce for line in lines_of(report, kind))
            yield ""
            yield from code_block("\n".join(commands), "sh")
    yield ""
    yield f"**{escape(_foot(report))}**"


def _head(report: Diff) -> Iterator[tuple[str, str]]:
    for word, side in (("before", report.before), ("after", report.after)):
        cut = "" if side.complete else ", cut"
        yield word, f"{side.name}, {counted(side.verdicts, 'verdict')}, {side.started}{cut}"


def _circumstances(report: Diff) -> Iterator[tuple[str, str, str]]:
    """What differs, before and after; adapters of which the same is to be said share a row."""
    of: dict[tuple[str, str, str], list[str]] = {}
    for one in report.circumstances:
        of.setdefault((one.what, one.before, one.after), []).append(one.adapter)
    for (what, before, after), adapters in of.items():
        names = ", ".join(filter(None, adapters))
        yield (f"{what} of {names}" if names and what != "adapter" else names or what), before, after


LISTS = (
    ("new", "new finding"),
    ("fixed", "fixed finding"),
    ("still", "finding still there"),
    ("undecided", "finding of which nothing is known"),
)
"""The findings of a change, with what one of them is called."""


def findings_of(change: Change) -> Iterator[tuple[str, tuple[FindingChange, ...]]]:
    """The lists of findings that are not empty, each with what it is."""
    for field, name in LISTS:
        if found := getattr(change, field):
            yield name, found


def rows_of(finding: FindingChange) -> Iterator[tuple[str, str]]:
    """A finding in full: what each line is about, and the line."""
    yield from word_rows(finding.title, finding.expected, finding.got)
    times = max(finding.before, finding.after)
    where = location(finding.place)
    if where:
        yield "where", f"{where} (and {times - 1} more)" if times > 1 else where
    yield "code", finding.code
    if finding.why:
        yield "undecided", finding.why


def _line_rows(line: Line, *, verbose: bool, most: int | None = None) -> Iterator[tuple[int, str]]:
    """What is told below a line, each row with how deep it stands: the reason, and the findings that count."""
    change = line.change
    if not line.alone:
        return
    if change.why:
        yield 0, shorten(change.why, DIFF_VALUE_CHARACTERS)
    lists = [(name, found) for name, found in findings_of(change) if verbose or _counts(change, found)]
    for name, found in lists:
        if change.kind is Kind.CHANGED or len(lists) > 1:
            yield 0, f"{name} ({len(found)}):"
        shown = found[: most if verbose else DIFF_FINDINGS]
        for one in shown:
            for number, (label, text) in enumerate(rows_of(one)):
                yield bool(number), f"{label}: {shorten(one_line(text), DIFF_VALUE_CHARACTERS)}"
        if len(found) > len(shown):
            yield 0, f"and {len(found) - len(shown)} more; {'diff.json has' if most else '-v shows'} them"
    if not lists and (verbose or change.kind not in (Kind.STILL, Kind.FIXED)):
        yield from _in_words(change, verbose=verbose)


def _counts(change: Change, found: tuple[FindingChange, ...]) -> bool:
    """Whether findings are told without being asked for: those that are new, or that were found and are not now."""
    return found is change.new or (change.kind is Kind.CHANGED and found is change.fixed)


def _in_words(change: Change, *, verbose: bool) -> Iterator[tuple[int, str]]:
    """What either side tells of a change that has no findings; one of them where both tell the same."""
    sides = [("before", change.before_message), ("after", change.after_message)]
    messages = [(side, message) for side, message in sides if message]
    if len({message for _, message in messages}) == 1:
        messages = messages[-1:]
    if not verbose and change.kind is not Kind.CHANGED:
        messages = messages[-1:]
    where = f"in {change.where}, " if change.where else ""
    for side, message in messages:
        yield 0, f"{where}{side}: {shorten(one_line(message), DIFF_VALUE_CHARACTERS)}"


def _foot(report: Diff) -> str:
    counts = [f"{count} {LOOKS[kind].word}" for kind, count in report.counts.items() if count]
    if not report.compared:
        counts.append("nothing was measured on both sides: these two cannot be compared")
    else:
        counts.append(f"{report.same} the same")
    return ", ".join(counts)
