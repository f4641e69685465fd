"""Which scenarios show a requirement: where its check compares something, if the subject does what it claims.

The index is a file of the suite, `shown.json`, made from certifications of adapters that hold everything. With it a
requirement that no scenario within the claims could ever show is told from one that a scenario should have shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from ...errors import CatalogueError

SHOWN_FILE: Final = "shown.json"

EVERYWHERE: Final = "*"
"""Stands for every dialect in which the scenario can be run."""

Side: TypeAlias = Literal["alone", "parity"]
"""What compares: the check of a path by itself, or that of both paths with each other."""

SIDES: Final[tuple[Side, ...]] = get_args(Side)


class ShownFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The index as it is written: requirement -> side -> dialects -> scenarios.

    `dialects` are all that took part. Keys of the innermost table are `*`, or the names of dialects with blanks between
    them; a scenario that shows it in one mode alone has that behind a colon (`tools/one:stream`).
    """

    dialects: tuple[str, ...]
    shown: dict[str, dict[Side, dict[str, tuple[str, ...]]]]


@dataclass(frozen=True, slots=True)
class Shown:
    """The index, as it is asked."""

    dialects: frozenset[str]
    _tables: Mapping[str, Mapping[Side, Mapping[str, tuple[str, ...]]]]

    @classmethod
    def load(cls, path: Path, requirements: Iterable[str]) -> Shown:
        """From its file. Raises CatalogueError for what cannot be read, or names a requirement that there is not."""
        try:
            found = msgspec.json.decode(path.read_bytes(), type=ShownFile)
        except (OSError, msgspec.MsgspecError) as error:
            raise CatalogueError(f"{path}: {error}") from error
        if unknown := sorted(found.shown.keys() - set(requirements)):
            raise CatalogueError(f"{path}: no requirement {unknown[0]!r}")
        return cls(frozenset(found.dialects), found.shown)

    def names(self) -> frozenset[str]:
        """Every scenario that the index has; it has no others than those of its suite."""
        return frozenset(
            entry.partition(":")[0]
            for sides in self._tables.values()
            for dialects in sides.values()
            for entries in dialects.values()
            for entry in entries
        )

    def scenarios(self, requirement: str, dialect: str, side: Side = "alone") -> dict[str, str]:
        """The scenarios that show a requirement, each with the mode in which alone it does (or the empty string).

        For a dialect that the index does not have they are those of all dialects. Nothing for what no scenario shows.
        """
        known = dialect in self.dialects
        found: dict[str, str] = {}
        for dialects, entries in self._tables.get(requirement, {}).get(side, {}).items():
            if known and dialects != EVERYWHERE and dialect not in dialects.split():
                continue
            for entry in entries:
                name, _, mode = entry.partition(":")
                found[name] = mode if found.get(name, mode) == mode else ""
        return found
