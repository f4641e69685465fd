"""The mutants of adapters, inside a closed session on `openai`, by name in capitals."""

from __future__ import annotations

from turnproof.run.driver.mutation import Mutant

from .sessions import ADAPTERS, mutants_inside

MUTANTS = mutants_inside(ADAPTERS["openai"])


def __getattr__(name: str) -> Mutant:
    try:
        return MUTANTS[name]
    except KeyError:
        raise AttributeError(name) from None
