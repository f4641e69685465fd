"""Text with JSON in it as markup: keys, strings, numbers and words in elements of their own, for the style sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from ...judge.finding_words import first_difference
from .._inline_text import printable
from ..limits import COLOURED_CHARACTERS

_TOKEN = re.compile(
    r'(?P<s>"(?:[^"\\\n]|\\.)*"?)(?P<colon>\s*:)?|(?P<n>-?\b\d[\d.]*(?:[eE][+-]?\d+)?\b)|(?P<w>\b(?:true|false|null)\b)'
)


_ALIKE = 1 / 3
"""How much of two texts has to be the same, so that the rest of them is worth a mark."""


def colour_json(text: str, mark: tuple[int, int] | None = None) -> Markup:
    """The text, printable and escaped, with its JSON coloured and the characters marked from one index to another.

    Text that is no JSON stays readable as it is.
    """
    text = printable(text)
    if len(text) > COLOURED_CHARACTERS:
        return escape(text)
    begin, end = mark or (0, 0)
    found: list[str] = []
    for kind, start, stop in _tokens(text):
        pieces = ((start, min(stop, begin)), (max(start, begin), min(stop, end)), (max(start, end), stop))
        written = "".join(
            f"<mark>{escape(text[a:b])}</mark>" if number == 1 else str(escape(text[a:b]))
            for number, (a, b) in enumerate(pieces if end > begin else ((start, stop),))
            if a < b
        )
        found.append(f'<span class="{kind}">{written}</span>' if kind else written)
    return Markup("".join(found))


def colour_both(expected: str, got: str) -> tuple[Markup, Markup]:
    """Two texts with what differs between them marked, where they are alike enough for that."""
    start = first_difference(expected, got)
    room = min(len(expected), len(got)) - start
    tail = first_difference(expected[::-1], got[::-1]) if room else 0
    tail = min(tail, room)
    if start + tail < _ALIKE * max(len(expected), len(got)):
        return colour_json(expected), colour_json(got)
    return colour_json(expected, (start, len(expected) - tail)), colour_json(got, (start, len(got) - tail))


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """The text in pieces: the kind of each, empty for what has no colour, and from where to where it goes."""
    end = 0
    for match in _TOKEN.finditer(text):
        kind = "s" if match["s"] is not None else "n" if match["n"] is not None else "w"
        yield "", end, match.start()
        yield "k" if match["colon"] else kind, *match.span(kind)
        end = match.end(kind)
    yield "", end, len(text)
