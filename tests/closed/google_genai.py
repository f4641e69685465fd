"""The mutants of adapters, inside a closed session on `google_genai`, by name in capitals."""

from __future__ import annotations

from turnproof.run.driver.mutation import Mutant

from .sessions import ADAPTERS, mutants_inside

MUTANTS = mutants_inside(ADAPTERS["google_genai"])


def __getattr__(name: str) -> Mutant:
    try:
        return MUTANTS[name]
    except KeyError:
        raise AttributeError(name) from None
