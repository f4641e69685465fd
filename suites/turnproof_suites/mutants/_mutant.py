"""`@mutant(...)`: a small class that breaks one thing, made into a `Mutant`.

The class is a `Broken` adapter (seams inputs, outputs, callbacks), a `Rewriting` proxy (seam wire), a `BrokenSession`
(seam session) or a `BrokenAgent` (seam agent); what its docstring says is what it breaks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from turnproof.provider import Path
from turnproof.run.driver.mutation import Failing, Mutant, Seam

from ._broken import Broken
from ._rewriting import Rewriting
from ._session import BrokenSession, broken

Breaking: TypeAlias = type[Broken] | type[Rewriting] | type[BrokenSession]

BOTH: tuple[Path, ...] = ("stateless", "legacy")


def mutant(
    name: str,
    seam: Seam,
    *,
    caught_by: str,
    scenarios: str | tuple[str, ...],
    sources: str | tuple[str, ...],
    paths: tuple[Path, ...] = BOTH,
    capability: tuple[str, ...] = (),
    fails: Failing | None = None,
) -> Callable[[Breaking], Mutant]:
    """Turn the decorated class into a mutant. `fails` is for those that hang or raise oddly on purpose; `capability`
    names what an adapter, or the wire API (`wire:refusals`), must have for the mutant to break anything."""

    def made(cls: Breaking) -> Mutant:
        parts: dict[str, Any] = {"filter": cls}
        if issubclass(cls, Broken):
            parts = {"wrap": cls}
        elif issubclass(cls, BrokenSession):
            parts = {"session": partial(broken, cls)}
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
            **parts,
        )

    return made
