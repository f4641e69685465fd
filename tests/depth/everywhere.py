"""The mutants of the suites without their lists of scenarios: `tests.depth.everywhere:NAME` breaks every run.

A mutant names the scenarios where it is known to show. To say where else it does, it has to be applied there.
"""

from __future__ import annotations

from dataclasses import replace

from turnproof.run.driver.mutation import Mutant, all_mutants


def __getattr__(name: str) -> Mutant:
    """A mutant by its name, which is no name of Python."""
    try:
        return replace(all_mutants()[name], scenarios=("*",))
    except KeyError:
        raise AttributeError(name) from None
