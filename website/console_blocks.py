"""Every block of commands on the pages.

`website.run_blocks` runs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .repository import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "examples/*/README.md", "reports/README.md")

_BLOCK = re.compile(r"^(?P<indent> *)```(?:console|sh)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """The commands of one block, without prompts, comments and what they print."""

    page: str
    number: int
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}:{self.number}"


def blocks() -> Iterator[Block]:
    """The blocks of all pages in their order; numbers count from 1 in a page."""
    for glob in PAGES:
        for file in sorted(ROOT.glob(glob)):
            for number, found in enumerate(_BLOCK.finditer(file.read_text("utf-8")), 1):
                yield Block(file.relative_to(ROOT).as_posix(), number, tuple(_commands(found["text"])))


def _commands(text: str) -> Iterator[str]:
    """With prompts, only the lines that have one are commands."""
    lines = [line.strip() for line in re.sub(r"\\\n\s*", " ", text).splitlines()]
    prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for line in prompted or lines:
        if command := re.sub(r"(^|\s+)#\s.*$", "", line).strip():
            yield command
