"""`history.html`: the history as a page of its own, and `history-<adapter>.svg`, a badge over time."""

from __future__ import annotations

from html import escape

from .._base.printable import one_line
from ..judge.verdict import Status
from ._inline_text import LOOKS, file_name
from .history import AdapterHistory, History, RunStanding
from .history_text import COLUMNS, cells, changes_in_words
from .html import content_policy, source, template
from .limits import HISTORY_RUNS
from .page.phrases import day

_CELL = 16
_LETTER = 6.6
"""Pixels that a letter takes at the most in the fonts that browsers have."""

_COLOURS = {
    Status.HELD: "#0f6b35",
    Status.KNOWN_ISSUE: "#7a2e9e",
    Status.VIOLATED: "#b42318",
    Status.INCONCLUSIVE: "#6b7280",
}


def history_html(report: History) -> str:
    """The page. It loads nothing and has no script."""
    style = source("base.css") + source("history.css")
    return template("history.html.j2").render(
        report=report,
        columns=COLUMNS,
        cells=cells,
        status=status_of,
        words=changes_in_words,
        style=style,
        policy=content_policy(style),
    )


def history_badge_file(name: str) -> str:
    """The name of the badge over time of an adapter."""
    return f"history-{file_name(name)}.svg"


def status_of(stood: RunStanding) -> Status:
    """How the standing of a run looks: unknown where it was cut or measured in part."""
    if stood.certified:
        return Status.HELD
    if stood.conditional:
        return Status.KNOWN_ISSUE
    return Status.VIOLATED if stood.contract in (None, "no") and stood.complete else Status.INCONCLUSIVE


def history_badge(name: str, found: AdapterHistory) -> str:
    """A square for each of the last runs, the newest on the right, with its day and standing as its title."""
    runs = found.runs[-HISTORY_RUNS:]
    label = one_line(f"turnproof {name}")
    label = label if len(label) <= 40 else f"{label[:39]}…"
    left = round(len(label) * _LETTER) + 16
    width = left + _CELL * len(runs) + 8
    size = f'width="{width}" height="20" viewBox="0 0 {width} 20"'
    standings_text = "; ".join(f"{day(one.started)}: {one.standing}" for one in runs)
    squares = []
    for at, one in enumerate(runs):
        status, x = status_of(one), left + _CELL * at
        squares.append(
            f"<g><title>{escape(one_line(f'{day(one.started)}, turnproof {one.turnproof}: {one.standing}'))}</title>"
            f'<rect x="{x}" y="3" width="{_CELL - 2}" height="14" rx="3" fill="{_COLOURS[status]}"/>'
            f'<text x="{x + _CELL / 2 - 1}" y="14" text-anchor="middle">{LOOKS[status].symbol}</text></g>'
        )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(label)}: {escape(one_line(runs[-1].standing))}</title>',
            f'<desc id="desc">{escape(one_line(standings_text))}</desc>',
            "<style>text { font: 11px Verdana, system-ui, sans-serif; fill: #fff; }</style>",
            f'<rect width="{width}" height="20" rx="4" fill="#3b424d"/>',
            f'<text x="8" y="14">{escape(label)}</text>',
            *squares,
            "</svg>\n",
        )
    )
