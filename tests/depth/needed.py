"""Scenarios that have to be in a quick run, whatever they cost: without them a small set of claims decides less."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect
from turnproof.judge.requirements import Requirement, load_suite


def groups() -> Iterator[frozenset[str]]:
    """For each requirement and dialect, the scenarios that show it and claim no more than what it is about; one of
    them has to stay. Where none is so modest, all that show it."""
    suite = load_suite()
    assert suite.shown is not None
    scenarios = {one.name: one for one in suite_scenarios(suite)}
    for requirement in suite.requirements:
        for wire in sorted(suite.shown.dialects):
            own = capabilities(requirement, wire)
            showing = suite.shown.scenarios(requirement.id, wire)
            modest = {
                name
                for name, mode in showing.items()
                if set(scenarios[name].features) | ({"streaming"} if mode == "stream" else set()) <= own
            }
            if showing:
                yield frozenset(modest or showing)


def capabilities(requirement: Requirement, wire: str) -> set[str]:
    """What a subject claims that claims this requirement and no more, on this wire API."""
    own = set(requirement.capability) | {f"wire:{trait}" for trait in dialect(wire).traits}
    return own | ({"cache"} if any(name.startswith("cache:") for name in requirement.capability) else set())
