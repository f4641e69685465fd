"""`picture-<adapter>.svg`: where an adapter stands, as a picture to embed in a README.

It has text and no images, loads nothing, uses the fonts of whoever looks at it, and follows their colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .._base.printable import one_line
from ._inline_text import LOOKS
from .brief import Tile, tiles
from .certification import Certification
from .page.phrases import day
from .standing import proof_of, standing, wire_of

_WIDTH = 640
_LONGEST = 78
"""Characters of a line: more would leave the picture in a wide font."""

_STYLE = """
svg { --paper: #fff; --ink: #171a1f; --faint: #586170; --line: #dde1e7;
  --violated: #b42318; --inconclusive: #855000; --known-issue: #7a2e9e; --held: #0f6b35; }
@media (prefers-color-scheme: dark) { svg { --paper: #171a1f; --ink: #e8ebef; --faint: #a0a9b5; --line: #30363e;
  --violated: #ff9d91; --inconclusive: #f0c25f; --known-issue: #dcaef5; --held: #7bd99c; } }
text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--ink); }
.name { font-size: 18px; font-weight: 650; } .answer { font-weight: 650; }
.faint { fill: var(--faint); font-size: 12.5px; }
.frame { fill: var(--paper); stroke: var(--line); }
"""


def picture_svg(report: Certification, name: str) -> str:
    """The picture of one adapter."""
    found = report.adapters[name]
    where = standing(found, complete=report.complete)
    answers = tiles(found)
    lines = [f"{tile.question}: {tile.answer}; {tile.note}" for tile in answers]
    proof = [f"{wire_of(found)}, {found.model}" if found.model else wire_of(found)]
    proof += [
        proof_of(found),
        f"requirements of {report.profiles}, turnproof {report.turnproof}, {day(report.started)}",
    ]
    top = 56 + 44 * len(answers)
    height = top + 20 * len(proof)
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
            f'<title id="title">{_text(f"turnproof: {name} is {where}")}</title>',
            f'<desc id="desc">{_text(". ".join([*lines, *proof]))}.</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect class="frame" x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
            f'<text class="name" x="16" y="32">{_line(f"{name}: {where}", 60)}</text>',
            *_answers(answers),
            *(f'<text class="faint" x="16" y="{top + 20 * at}">{_line(text)}</text>' for at, text in enumerate(proof)),
            "</svg>\n",
        ]
    )


def _answers(answers: list[Tile]) -> Iterator[str]:
    for at, tile in enumerate(answers):
        top = 58 + 44 * at
        colour = f'style="fill: var(--{tile.status})"'
        yield f'<rect x="16" y="{top - 14}" width="4" height="36" rx="2" {colour}/>'
        yield (
            f'<text x="30" y="{top}">{_line(tile.question)}: <tspan class="answer" {colour}>'
            f"{LOOKS[tile.status].symbol} {_line(tile.answer)}</tspan></text>"
        )
        yield f'<text class="faint" x="30" y="{top + 18}">{_line(tile.note)}</text>'


def _line(text: str, longest: int = _LONGEST) -> str:
    text = one_line(text)
    return _text(text if len(text) <= longest else f"{text[: longest - 1]}…")


def _text(text: str) -> str:
    return escape(one_line(text))
