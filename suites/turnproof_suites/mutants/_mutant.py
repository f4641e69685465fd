"""`@mutant(...)`: a small class that breaks one thing, made into a `Mutant`.

The class is either a `Broken` adapter (seams inputs, outputs, callbacks) or a `Rewriting` proxy (seam wire); what
its docstring says is what it breaks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from turnproof.driver.mutation import Failing, Mutant, Seam
from turnproof.provider import Path

from ._broken import Broken
from ._rewriting import Rewriting

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
    dialects: tuple[str, ...] = (),
) -> Callable[[type[Broken] | type[Rewriting]], Mutant]:
    """Turn the decorated class into a mutant. `fails` is for those that hang or raise oddly on purpose;
    `capability` names what an adapter must have for the mutant to break anything, `dialects` the wire APIs that have
    what it breaks (all of them if none are named)."""

    def made(cls: type[Broken] | type[Rewriting]) -> Mutant:
        parts: dict[str, Any] = {"wrap": cls} if issubclass(cls, Broken) else {"filter": cls}
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
            dialects=dialects,
            **parts,
        )

    return made
