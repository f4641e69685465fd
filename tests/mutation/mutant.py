"""One change of one file, which says where it is in words that outlive a shift of lines: the function, the text of the
line, and what became what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one place of it changed.

    `file` is the path below the adapters' package; `function` the dotted name of what the place is in, empty at the top
    of the module. `line` is the number of the line on which something changes, `text` that line without its
    indentation; `offset` is where the change begins in the file, in characters. `lines` are those of the whole
    statement, or of its head where others are nested in it: a run that comes by none of them cannot tell the mutant
    from the original.
    """

    file: str
    function: str
    operator: str
    line: int
    text: str
    change: str
    lines: range
    offset: int
    make: Callable[[], str] = field(repr=False, compare=False)

    @property
    def source(self) -> str:
        """The whole module with the change."""
        return self.make()

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.change}"
