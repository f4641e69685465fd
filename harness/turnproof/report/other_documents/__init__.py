"""What else lies in a report's folder: kill matrices, benchmarks, gates, comparisons. Each has its own date and claim.

They were made by other commands, at other times, perhaps of other adapters. A file that is damaged, of another version
or somebody else's is told by its name, and takes nothing else away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ..._base.foreign_files import read_regular
from ...errors import UsageError
from .documents import Bench, Comparison, Gate, Mutants
from .plots import Plot, plots_of

__all__ = ["NOTHING", "FoundDocument", "OtherDocuments", "Plot", "read_other_documents"]

_Document = TypeVar("_Document", Mutants, Bench, Gate, Comparison)


@dataclass(frozen=True, slots=True)
class FoundDocument(Generic[_Document]):
    """A document that was read. `file` is its path from the report's folder, `page` that of its own page, or empty."""

    file: str
    page: str
    read: _Document


@dataclass(frozen=True, slots=True)
class OtherDocuments:
    """Everything that was found, and what could not be read, a line each. `plots` are those of the benchmarks."""

    mutants: tuple[FoundDocument[Mutants], ...] = ()
    benches: tuple[FoundDocument[Bench], ...] = ()
    gates: tuple[FoundDocument[Gate], ...] = ()
    comparisons: tuple[FoundDocument[Comparison], ...] = ()
    plots: tuple[Plot, ...] = ()
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return self != NOTHING

    def caught_mutants(self) -> dict[str, list[str]]:
        """The mutants that each requirement has caught, over all matrices."""
        found: dict[str, list[str]] = {}
        for matrix in self.mutants:
            for requirement, standing in matrix.read.requirements.items():
                mutants_of_requirement = found.setdefault(requirement, [])
                mutants_of_requirement += [mutant for mutant in standing.caught if mutant not in mutants_of_requirement]
        return found


NOTHING = OtherDocuments()


def read_other_documents(folder: Path) -> OtherDocuments:
    """Read what lies in the folder and in the folders directly below it."""
    problems: list[str] = []

    def documents(kind: type[_Document], name: str, page: str = "") -> tuple[FoundDocument[_Document], ...]:
        return tuple(_documents(folder, kind, name, page, problems))

    benches = documents(Bench, "bench.json")
    plots = [plot for bench in benches for plot in plots_of(folder, folder / bench.file, problems)]
    return OtherDocuments(
        mutants=documents(Mutants, "mutants.json", "mutants.html"),
        benches=benches,
        gates=documents(Gate, "gate-*.json"),
        comparisons=documents(Comparison, "comparison.json", "compare.html"),
        plots=tuple(plots),
        problems=tuple(problems),
    )


def _documents(
    folder: Path, kind: type[_Document], name: str, page: str, problems: list[str]
) -> Iterator[FoundDocument[_Document]]:
    for file in [*sorted(folder.glob(name)), *sorted(folder.glob(f"*/{name}"))]:
        place = file.relative_to(folder).as_posix()
        try:
            read = msgspec.json.decode(read_regular(file), type=kind)
        except (OSError, UsageError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{place} is not shown: {error}")
            continue
        page_file = file.with_name(page) if page else None
        yield FoundDocument(
            place, page_file.relative_to(folder).as_posix() if page_file and page_file.is_file() else "", read
        )
