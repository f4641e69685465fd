"""What is known of mutants that the suite lets live: `survivors.toml`, one entry a reviewed place.

An entry names what it speaks of by the file and, as far as it needs to, the function, the text of the line, and the
change, each word for word; it stands for all mutants that fit. None of that moves when lines are put in above.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from .mutant import Mutant

Why: TypeAlias = Literal["equivalent", "out-of-sight"]


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A reviewed survivor.

    `why` says what it is: `equivalent` (no caller can tell it from the original), or `out-of-sight` (somebody could,
    but neither a certification, which drives a session over HTTP, nor a test of the adapter). `reason` says how one
    knows. `function` stands for what is nested in it as well.
    """

    file: str
    why: Why
    reason: str
    function: str | None = None
    line: str | None = None
    change: str | None = None

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError(f"{self}: a survivor that is not explained is not reviewed")

    def fits(self, mutant: Mutant) -> bool:
        """Whether the entry speaks of this mutant."""
        inside = self.function is None or f"{mutant.function}.".startswith(f"{self.function}.")
        same_line, same_change = self.line in (None, mutant.text), self.change in (None, mutant.change)
        return self.file == mutant.file and inside and same_line and same_change

    def __str__(self) -> str:
        return " / ".join(word for word in (self.file, self.function, self.line, self.change) if word)


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    survivor: tuple[Survivor, ...] = ()

    def of(self, mutant: Mutant) -> Survivor | None:
        """The first entry that speaks of a mutant."""
        return next((one for one in self.survivor if one.fits(mutant)), None)

    def obsolete(self, generated: Iterable[Mutant]) -> list[Survivor]:
        """Entries about these mutants' files that fit none of them any more."""
        every: dict[str, list[Mutant]] = {}
        for mutant in generated:
            every.setdefault(mutant.file, []).append(mutant)
        return [one for one in self.survivor if one.file in every and not any(map(one.fits, every[one.file]))]

    def disproved(self, generated: Sequence[Mutant], killed: Sequence[Mutant]) -> list[Survivor]:
        """Entries of which every mutant is among the `killed`: they survive no longer."""
        dead = set(killed)
        return [
            one
            for one in self.survivor
            if (fitting := {mutant for mutant in generated if one.fits(mutant)}) and fitting <= dead
        ]


def load_review(path: Path) -> Review:
    """The review in that file. Raises msgspec.ValidationError for an entry that is wrong."""
    return msgspec.toml.decode(path.read_bytes(), type=Review)
