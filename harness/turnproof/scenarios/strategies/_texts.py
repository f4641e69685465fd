"""Texts that have broken something somewhere, among many that have not; and the pieces they are streamed in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from hypothesis import strategies as st

_PLAIN: Final = ("Bed 3 is dry.", " ", "Water it", ", please. ", "41 %", "\n", "Why?")

_ODD: Final = (
    # Letters of several code points, of several bytes, and from right to left.
    "Größe", "e\u0301", "北京", "🌱", "👩\u200d🌾", "שלום", "\u202eabc\u202c", "\ufeff", "\u200b", "\U0010ffff",
    # Control characters; what Python takes for the end of a line, and what ends an event.
    "\x00", "\x07", "\x1b[31m", "\x7f", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\n\n",
    # What looks like something else.
    "data: [DONE]\n\n", "event: error\n", ": ping", "{n}", "null", '{"a": [1]}', '"', "\\", "\\u0041", "\\ud83c",
    "<b>&amp;</b>", "</thinking>", "{{system}}", "%s", "toolu_01",
)  # fmt: skip

_FRAGMENT: Final = st.sampled_from(_PLAIN * 3 + _ODD)

BLANKS: Final = st.sampled_from((" ", "\n", "\t \u3000", "\u200b"))
"""Texts that say nothing; the last one only looks like it."""


@cache
def texts(most: int = 4) -> st.SearchStrategy[str]:
    """A text that is not blank, of up to `most` fragments."""
    return st.lists(_FRAGMENT, min_size=1, max_size=most).map("".join).map(_not_blank)


def _not_blank(text: str) -> str:
    """No scenario says nothing by chance: what is blank for one API is not for another."""
    return text if any(letter.isalnum() for letter in text) else f"Yes{text}"


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """A text in one to five pieces, none of them empty."""
    if len(text) < 2:
        return [text]
    return split_at(text, sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=4))))


def split_at(text: str, places: Sequence[int]) -> list[str]:
    """The pieces of a text between ascending places."""
    return [text[start:end] for start, end in pairwise((0, *places, len(text)))]
