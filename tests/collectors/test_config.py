"""When a collection is due, and which settings make no sense."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.budget import ContextUsage
from turnproof.errors import UsageError
from turnproof.gc import BudgetGC, GCConfig, HybridGC, Reason, SummarizeGC, TruncateGC, due

COLLECTORS = [TruncateGC(), SummarizeGC(None), HybridGC(None), BudgetGC()]
LIMIT_100 = GCConfig(threshold=0.8, target=0.5, keep_turns=2, max_turns=3)

DUE: list[tuple[str, ContextUsage, GCConfig, Reason | None]] = [
    ("below the threshold", ContextUsage(79, 100, 1), LIMIT_100, None),
    ("at the threshold", ContextUsage(80, 100, 1), LIMIT_100, "threshold"),
    ("far above the limit", ContextUsage(900, 100, 1), LIMIT_100, "threshold"),
    ("no limit known", ContextUsage(900, None, 1), LIMIT_100, None),
    ("as many turns as may be", ContextUsage(1, 100, 3), LIMIT_100, None),
    ("one turn too many", ContextUsage(1, 100, 4), LIMIT_100, "turn-limit"),
    ("one turn too many without a limit", ContextUsage(1, None, 4), LIMIT_100, "turn-limit"),
    ("both", ContextUsage(90, 100, 4), LIMIT_100, "threshold"),
    ("continuous at the target", ContextUsage(50, 100, 1), GCConfig(continuous=True), None),
    ("continuous above the target", ContextUsage(51, 100, 1), GCConfig(continuous=True), "continuous"),
    ("continuous by turns", ContextUsage(51, None, 3), GCConfig(continuous=True, keep_turns=2), "continuous"),
    ("continuous, few turns", ContextUsage(51, None, 2), GCConfig(continuous=True, keep_turns=2), None),
    ("never by itself", ContextUsage(99, 100, 9), GCConfig(auto=False, max_turns=5, continuous=True), None),
]


@pytest.mark.parametrize(("usage", "config", "reason"), [case[1:] for case in DUE], ids=[case[0] for case in DUE])
def test_a_collection_is_due_for_one_reason_or_none(
    usage: ContextUsage, config: GCConfig, reason: Reason | None
) -> None:
    assert due(usage, config) == reason
    assert [collector.should_collect(usage, config) for collector in COLLECTORS] == [reason] * len(COLLECTORS)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"keep_turns": 0}, "at least one turn is kept, got keep_turns=0"),
    ({"threshold": 0}, "target and threshold"),
    ({"threshold": 1.01}, "threshold=1.01"),
    ({"target": 0}, "target=0"),
    ({"target": 0.8, "threshold": 0.8}, "0 < target < threshold"),
    ({"pressure": 0}, "pressure is a share"),
    ({"pressure": 1.5}, "got 1.5"),
    ({"context_limit": 0}, "None asks the provider"),
    ({"max_turns": 1, "keep_turns": 2}, "max_turns=1 is below keep_turns=2"),
    ({"pinned": "m1"}, "pinned is a set of message ids"),
    ({"notice": " "}, "got blank text"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG, ids=[str(case[0]) for case in WRONG])
def test_a_setting_that_makes_no_sense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as failure:
        GCConfig(**settings)
    assert message in str(failure.value)


def test_the_usage_says_how_full_the_context_is() -> None:
    usage = ContextUsage(150, 600, 2)
    assert (usage.share, usage.percent, usage.remaining) == (0.25, 25.0, 450)
    assert ContextUsage(700, 600).remaining == 0
    unknown = ContextUsage(700)
    assert (unknown.share, unknown.percent, unknown.remaining) == (0.0, 0.0, None)
