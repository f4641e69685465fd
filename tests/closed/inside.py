"""The mutants of adapters inside a closed session: `openai__CALLS_DROPPED` is `calls-dropped` of `openai`."""

from __future__ import annotations

from turnproof.run.driver.mutation import Mutant

from .sessions import ADAPTERS, mutants_inside


def __getattr__(name: str) -> Mutant:
    adapter, _, mutant = name.partition("__")
    try:
        return mutants_inside(ADAPTERS[adapter])[mutant]
    except KeyError:
        raise AttributeError(name) from None
