"""One verdict from views: the same for a certification while it happens and for one that is verified afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..provider import Capabilities, Difference
from ..requirements import REGISTRY, Registry, Requirement, judge, judge_parity
from ..scenarios import Scenario
from ..verdict import Verdict, inconclusive, not_claimed
from ..view import View


@dataclass(frozen=True, slots=True)
class Claimed:
    """What an adapter has said of itself, and all scenarios of the suite."""

    claims: Capabilities
    declared: Sequence[Difference]
    scenarios: Sequence[Scenario]

    def missing(self, requirement: Requirement) -> tuple[str, ...]:
        """The features, not claimed, of the scenarios that the requirement looks at."""
        found = {
            feature
            for scenario in self.scenarios
            if requirement.looks_at(scenario.name)
            for feature in scenario.features
            if not self.claims.claims(feature)
        }
        return tuple(sorted(found))


def decide(
    requirement: Requirement,
    path: str,
    views: Iterable[View],
    adapter: Claimed,
    registry: Registry = REGISTRY,
) -> Verdict:
    """The verdict on one requirement for `stateless`, `legacy` or `parity`.

    Where no run had anything that the requirement looks at, and there are scenarios that the adapter does not claim the
    features for, the requirement is not claimed either; the verdict names the features.
    """
    every = list(views)
    if path == "parity":
        verdict = _parity(requirement, every, adapter, registry)
    else:
        verdict = judge(requirement, path, every, claims=adapter.claims, registry=registry)  # type: ignore[arg-type]
    if verdict.compared_nothing and (missing := adapter.missing(requirement)):
        return not_claimed(f"no run shows it without what the adapter does not claim: {', '.join(missing)}")
    return verdict


def _parity(requirement: Requirement, views: Sequence[View], adapter: Claimed, registry: Registry) -> Verdict:
    found = judge_parity(
        requirement,
        [view for view in views if view.key.path == "stateless"],
        [view for view in views if view.key.path == "legacy" and view.key.repeat == 0],
        [view for view in views if view.key.path == "legacy" and view.key.repeat == 1],
        declared=adapter.declared,
        claims=adapter.claims,
        registry=registry,
    )
    return found if found is not None else inconclusive("the requirement has no aspect to compare")
