"""Adapters that are right in an unusual way: the proof that the suite's checks accuse nobody falsely.

Each takes a freedom that every provider's API leaves, wraps any adapter or rewrites what goes over the wire, and keeps
the meaning. A check that calls one of them wrong is wrong itself. In form they are mutants that nothing may catch;
`turnproof mutants ADAPTER --right` runs them.
"""

from __future__ import annotations

from turnproof.run.driver.mutation import Mutant

from . import answers, calling, spelling, wire

__all__ = ["RIGHT"]

RIGHT: dict[str, Mutant] = {
    f"{area.__name__}:{attribute}": value
    for area in (answers, calling, spelling, wire)
    for attribute, value in vars(area).items()
    if isinstance(value, Mutant)
}
"""Every right adapter by the name that a worker finds it under (`module:attribute`)."""
