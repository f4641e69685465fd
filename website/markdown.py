"""Small pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_\[\]|<>#])")
_CODE = re.compile(r"`[^`\n]+`")
_MARKED = re.compile(r"(`[^`]+`|\*[A-Za-z][\w ]*\*)")


def plain(text: str) -> str:
    """A text that reads the same in Markdown, in one line."""
    return _escaped(" ".join(text.split()))


def prose(text: str) -> str:
    """A docstring's or a help's text in one line: code in backticks and `*stressed*` words stay, the rest is plain."""
    pieces = _MARKED.split(" ".join(text.split()))
    return "".join(piece if _MARKED.fullmatch(piece) else _escaped(piece) for piece in pieces)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def code(text: str) -> str:
    """Code inside of a line, also of a table: Python-Markdown takes a bar in code for no end of a cell."""
    quoted = " ".join(text.split())
    return f"`` {quoted} ``" if "`" in quoted else f"`{quoted}`"


def bare_bars(text: str) -> str:
    """A text whose tables have bars in code as Python-Markdown reads them: without the backslash that others need."""

    def bare(row: re.Match[str]) -> str:
        return _CODE.sub(lambda match: match[0].replace("\\|", "|"), row[0])

    return re.sub(r"^\|.*$", bare, text, flags=re.MULTILINE)


def fenced(text: str, language: str = "") -> str:
    """A block of code. The fence is longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def page(title: str, *parts: str) -> str:
    """A page from its title and its parts; an empty part is left out."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"
