"""`@right(...)`: a small class that takes one freedom, made into a `Mutant` that nothing may catch."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from turnproof.provider import Path
from turnproof.run.driver.mutation import Mutant

from ..mutants import Broken, Rewriting

Freedom = type[Broken] | type[Rewriting]


def right(
    name: str,
    *,
    scenarios: tuple[str, ...],
    capability: tuple[str, ...] = (),
    dialects: tuple[str, ...] = (),
    paths: tuple[Path, ...] = ("stateless", "legacy"),
) -> Callable[[Freedom], Mutant]:
    """Turn the decorated class into a right adapter; its docstring says what it does and why that means the same.

    `scenarios` are globs of those that show the freedom, `capability` is what an adapter must claim for it, and
    `dialects` are the wire APIs that leave it, if not all do.
    """

    def make(cls: Freedom) -> Mutant:
        wraps = issubclass(cls, Broken)
        return Mutant(
            name=name,
            seam="inputs" if wraps else "wire",
            breaks=inspect.getdoc(cls) or "",
            caught_by="",
            sources=(),
            scenarios=scenarios,
            capability=capability,
            dialects=dialects,
            paths=paths,
            wrap=cls if wraps else None,
            filter=None if wraps else cls,
        )

    return make
