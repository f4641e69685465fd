"""Claims that nothing speaks for: a report that counts what is held must not let them pass for shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..judge.run_log import AdapterLine, RequirementLine
from ..provider import ASSUMED


def unproven_claims(
    adapter: AdapterLine, requirements: Iterable[RequirementLine], decided: Collection[str]
) -> tuple[str, ...]:
    """The capabilities that the binding claims, and that no requirement which was `decided` (held, violated or known)
    depends on. What is claimed by default says nothing of the binding and is not counted."""
    shown = {
        name.partition(":")[0]
        for line in requirements
        if line.id in decided and line.capability
        for name in line.capability.split(", ")
    }
    claimed = [name for name, value in adapter.capabilities.items() if value not in (False, "none") and name != "wire"]
    return tuple(sorted(set(claimed) - shown - set(ASSUMED)))
