"""Adapters that are right in an unusual way: the proof that the suite's checks accuse nobody falsely.

Each takes a freedom that every provider's API leaves, wraps any adapter or rewrites what goes over the wire, and keeps
the meaning. A check that calls one of them wrong is wrong itself. In form they are mutants that nothing may catch;
`turnproof mutants ADAPTER --right` runs them.
"""

from __future__ import annotations

from . import (
    answers,
    callbacks,
    calling,
    declarations,
    defaults,
    direct_calls,
    errors,
    instructions,
    pictures,
    results,
    schemas,
    settings,
    spelling,
    texts,
)
from ._right import Library, RightAdapter

__all__ = ["RIGHT", "Library", "RightAdapter"]

_AREAS = (
    texts,
    instructions,
    declarations,
    settings,
    defaults,
    calling,
    results,
    pictures,
    spelling,
    answers,
    callbacks,
    errors,
    direct_calls,
    schemas,
)

RIGHT: dict[str, RightAdapter] = {
    f"{area.__name__}:{attribute}": value
    for area in _AREAS
    for attribute, value in vars(area).items()
    if isinstance(value, RightAdapter)
}
"""Every right adapter by the name that a worker finds it under (`module:attribute`)."""
