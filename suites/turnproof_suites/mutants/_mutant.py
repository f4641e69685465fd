"""`@mutant(...)`: a small class that breaks one thing, made into a `Mutant`.

`@suite_mutant(name)` does so for the mutants of this suite: the arguments are their rows in `mutants.toml`.

The class is a `Broken` adapter (seams inputs, outputs, callbacks), a `Rewriting` proxy (seam wire), a `BrokenSession`
(seam session) or a `BrokenAgent` (seam agent); its docstring says what it breaks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path as File
from typing import Any, TypeAlias

import msgspec

from turnproof.provider import PATHS, Path
from turnproof.run.driver.mutation import Failing, Mutant, Seam

from ..rows import read_rows, row_of
from ._broken import Broken
from ._rewriting import Rewriting
from ._session import BrokenSession, broken_binding

Breaking: TypeAlias = type[Broken] | type[Rewriting] | type[BrokenSession]


ROWS_FILE = File(__file__).parent.parent / "mutants.toml"


class MutantRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `mutants.toml`: the arguments of `mutant`."""

    name: str
    seam: Seam
    caught_by: str
    scenarios: tuple[str, ...]
    sources: tuple[str, ...]
    paths: tuple[Path, ...] = PATHS
    capability: tuple[str, ...] = ()
    fails: Failing | None = None
    in_evidence: bool = True
    chains: bool = True


@cache
def mutant_rows() -> dict[str, MutantRow]:
    """The rows of `mutants.toml` by name. Raises CatalogueError for an unknown key or value, and for a name used
    twice."""
    return read_rows(ROWS_FILE, "mutant", MutantRow)


def suite_mutant(name: str) -> Callable[[Breaking], Mutant]:
    """Turn the decorated class into the mutant of this name in `mutants.toml`. Raises CatalogueError without a row."""
    row = row_of(mutant_rows(), name, ROWS_FILE, "mutant")
    return mutant(**msgspec.structs.asdict(row))


def mutant(
    name: str,
    seam: Seam,
    *,
    caught_by: str,
    scenarios: str | tuple[str, ...],
    sources: str | tuple[str, ...],
    paths: tuple[Path, ...] = PATHS,
    capability: tuple[str, ...] = (),
    fails: Failing | None = None,
    in_evidence: bool = True,
    chains: bool = True,
) -> Callable[[Breaking], Mutant]:
    """Turn the decorated class into a mutant. `fails` is for those that hang or raise oddly on purpose, `in_evidence`
    is False for what no digest of the evidence covers, and `chains` for what the service's chain does without: earlier
    turns in a request. `capability` names what an adapter, or the wire API
    (`wire:refusals`), must have for the mutant to break anything."""

    def make_mutant(cls: Breaking) -> Mutant:
        parts: dict[str, Any] = {"filter": cls}
        if issubclass(cls, Broken):
            parts = {"wrap": cls, "endpoint": cls.change_endpoint}
        elif issubclass(cls, BrokenSession):
            parts = {"session": partial(broken_binding, cls)}
        return Mutant(
            name=name,
            seam=seam,
            breaks=inspect.getdoc(cls) or "",
            caught_by=caught_by,
            sources=(sources,) if isinstance(sources, str) else sources,
            scenarios=(scenarios,) if isinstance(scenarios, str) else scenarios,
            capability=capability,
            paths=paths,
            fails=fails,
            in_evidence=in_evidence,
            chains=chains,
            **parts,
        )

    return make_mutant
