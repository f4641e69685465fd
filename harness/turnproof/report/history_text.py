"""How a history reads: on a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ._inline_text import one_line, printable
from ._markdown import escape
from .certification_diff import Kind
from .certification_diff_text import LOOKS
from .history import Changes, History, RunStanding
from .limits import HISTORY_NAMES
from .page.phrases import day
from .standing import ANSWERS

COLUMNS: Final = (
    "day",
    "MUST held",
    "today's models",
    "whole contract",
    "standing",
    "turnproof",
    "packages",
    "proof",
    "run",
)


def cells(stood: RunStanding) -> tuple[str, ...]:
    """One line about one run, in the order of the columns."""
    return (
        day(stood.started),
        f"{stood.must[0]}/{stood.must[1]}",
        ANSWERS[stood.today][1] if stood.today else "–",
        ANSWERS[stood.contract][1] if stood.contract else "–",
        stood.standing,
        f"{stood.turnproof}, {stood.profiles}",
        ", ".join(f"{name} {version}" for name, version in sorted(stood.packages.items())) or "–",
        f"{stood.proof}, {stood.depth}",
        stood.run,
    )


def changes_in_words(changes: Changes, *, most: int = HISTORY_NAMES) -> Iterator[str]:
    """What changed to the next run, and what may explain it; one line each. Nothing where nothing did."""
    for kind in Kind:
        ids = changes.requirements.get(kind, ())
        if not ids or kind is Kind.STILL:
            continue
        look = LOOKS[kind]
        shown_ids = ids if kind is not Kind.FOUND else ()
        names = ", ".join(shown_ids[:most]) + (f" and {len(shown_ids) - most} more" if len(shown_ids) > most else "")
        yield f"{look.symbol} {len(ids)} {look.word}" + (f": {names}" if names else "")
    if not changes.compared:
        yield "? the two runs measured nothing alike"
    differs = [
        f"{one.what} {one_line(one.before)} → {one_line(one.after)}"
        for one in changes.circumstances
        if one.what != "seed"
    ]
    if differs:
        yield f"not the same: {'; '.join(differs)}"


def history_text(report: History) -> str:
    """The history for a terminal."""
    return "\n".join(_text(report)) + "\n"


def _text(report: History) -> Iterator[str]:
    for name, found in report.adapters.items():
        yield printable(one_line(name))
        rows = [COLUMNS, *map(cells, found.runs)]
        wide = [max(len(one_line(row[at])) for row in rows) for at in range(len(COLUMNS))]
        for at, row in enumerate(rows):
            line = "  ".join(f"{one_line(cell):<{width}}" for cell, width in zip(row, wide, strict=True))
            if at > 1:
                for words in changes_in_words(found.changes[at - 2]):
                    yield printable(f"      {words}")
            yield printable(f"  {line.rstrip()}")
        yield ""
    for one in report.skipped:
        yield printable(f"left out: {one_line(one.run)} ({one.why}): {one_line(one.reason)}")


def history_md(report: History) -> str:
    """`history.md`: the same as GitHub-flavoured Markdown."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: History) -> Iterator[str]:
    yield "# turnproof history"
    for name, found in report.adapters.items():
        yield ""
        yield f"## {escape(name)}"
        yield ""
        yield f"| {' | '.join(COLUMNS)} |"
        yield f"|{'---|' * len(COLUMNS)}"
        for stood in found.runs:
            yield f"| {' | '.join(map(escape, cells(stood)))} |"
        for changes in found.changes:
            if lines := list(changes_in_words(changes, most=10**6)):
                yield ""
                yield f"{escape(changes.before)} → {escape(changes.after)}:"
                yield ""
                yield from (f"- {escape(line)}" for line in lines)
    if report.skipped:
        yield ""
        yield "## Left out"
        yield ""
        yield from (f"- {escape(one.run)} ({one.why}): {escape(one.reason)}" for one in report.skipped)
