"""Markdown in which what others wrote stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._inline_text import one_line, printable

_ESCAPES = {ord(mark): f"\\{mark}" for mark in "\\`*_{}[]|~"} | {ord(mark): f"&#{ord(mark)};" for mark in "<>&@#"}


def escape(text: str) -> str:
    """Text on one line in which nothing is Markdown or HTML, and no one is mentioned."""
    return one_line(text).translate(_ESCAPES).replace("://", ":&#47;&#47;")


def code_block(text: str, kind: str) -> Iterator[str]:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{kind}"
    yield from printable(text).splitlines()
    yield fence
