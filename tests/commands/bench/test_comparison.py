"""Counts strictly, ratios loosely, milliseconds never."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.commands.bench.comparison import compare
from turnproof.commands.bench.report import Bench, Comparison, Count, Ratio
from turnproof.judge.run_log import Environment

from .sample_outcomes import COUNTS, RATIOS, TIMES, adapter, outcome


def against(now: Bench, before: Bench, max_ratio: float = 1.5) -> Comparison:
    return compare(now, before, "earlier.json", max_ratio)


def with_count(**changes: Any) -> Bench:
    return outcome(adapters={"mine": adapter(counts=(replace(COUNTS[0], **changes), COUNTS[1]))})


def with_ratio(value: float, low: float | None = None) -> Bench:
    changed = replace(RATIOS[0], value=value, low=value if low is None else low)
    return outcome(adapters={"mine": adapter(ratios=(changed, RATIOS[1]))})


def test_a_run_is_no_worse_than_itself() -> None:
    found = against(outcome(), outcome())
    assert found == Comparison("earlier.json", 1.5, counts=2, ratios=2)


@pytest.mark.parametrize(
    ("change", "what", "before", "now"),
    [
        ({"read": 1}, "read of turn, stateless, 2 messages", "0", "1"),
        ({"taken": 2}, "taken of turn, stateless, 2 messages", "3", "2"),
        ({"requests": 2}, "requests of turn, stateless, 2 messages", "1", "2"),
        ({"calls": {}}, "calls of turn, stateless, 2 messages", "1 complete", "none"),
        ({"calls": {"complete": 1, "ping": 2}}, "calls of turn", "1 complete", "1 complete, 2 ping"),
    ],
)
def test_a_count_that_is_not_the_same_is_worse_whichever_way(
    change: dict[str, Any], what: str, before: str, now: str
) -> None:
    [worse] = against(with_count(**change), outcome(), max_ratio=1000).worse
    assert worse.adapter == "mine"
    assert worse.what.startswith(what)
    assert (worse.before, worse.now) == (before, now)


@pytest.mark.parametrize(("value", "is_worse"), [(0.1, False), (0.5, False), (0.75, False), (0.76, True)])
def test_a_ratio_is_worse_beyond_the_factor(value: float, is_worse: bool) -> None:
    found = against(with_ratio(value), outcome())
    assert bool(found.worse) is is_worse
    if is_worse:
        assert found.worse[0].what == "turn, stateless, 2 messages / sdk.call"
        assert (found.worse[0].before, found.worse[0].now) == ("0.5", "0.76")


def test_a_ratio_is_no_worse_while_a_round_of_it_is_not() -> None:
    assert against(with_ratio(9.0, low=0.75), outcome()).worse == ()
    assert against(with_ratio(9.0, low=0.76), outcome()).worse != ()


def test_a_ratio_over_another_length_says_so() -> None:
    current = outcome(adapters={"mine": adapter(ratios=(RATIOS[0], replace(RATIOS[1], value=3.0, low=3.0)))})
    [worse] = against(current, outcome()).worse
    assert worse.what == "turn, stateless, 200 messages / stateless at 2"


def test_milliseconds_are_not_compared() -> None:
    slow = outcome(adapters={"mine": adapter(times=tuple(replace(time, ms=time.ms * 1000) for time in TIMES))})
    assert against(slow, outcome()).worse == ()


def test_only_what_both_runs_have_is_compared() -> None:
    more = adapter(
        counts=(*COUNTS, Count("turn", "stateless", 1000, {"complete": 1}, 1, 0, 1001)),
        ratios=(*RATIOS, Ratio("turn", "stateless", 1000, "sdk.call", 1000, 99.0, 99.0, 99.0)),
    )
    found = against(outcome(adapters={"mine": more, "new": adapter()}), outcome())
    assert (found.counts, found.ratios, found.worse) == (2, 2, ())
    found = against(outcome(adapters={"new": adapter()}), outcome())
    assert (found.counts, found.ratios) == (0, 0)


def test_a_count_that_has_gone_is_worse() -> None:
    before = outcome(adapters={"mine": adapter(counts=(*COUNTS, replace(COUNTS[0], operation="stream")))})
    [worse] = against(outcome(), before).worse
    assert (worse.what, worse.now) == ("stream, stateless, 2 messages", "not counted")


def test_a_length_or_a_path_that_was_not_asked_for_has_not_gone() -> None:
    before = outcome(adapters={"mine": adapter(counts=(*COUNTS, replace(COUNTS[0], messages=1000)))})
    assert against(outcome(), before).worse == ()
    alone = outcome(adapters={"mine": adapter(counts=COUNTS[:1])})
    assert against(alone, outcome()).worse == ()


def test_another_machine_or_python_is_told_and_ratios_are_compared_all_the_same() -> None:
    there = Environment("3.13.0", "Darwin", {"anthropic": "2.12.0"})
    found = against(with_ratio(9.0), outcome(environment=there))
    assert found.elsewhere == ("python: 3.13.0 then, 3.11.7 now", "platform: Darwin then, Linux now")
    assert (found.counts, found.ratios, len(found.worse)) == (2, 2, 1)


def test_what_a_path_is_over_another_version_of_the_sdk_is_not_the_paths_fault() -> None:
    there = Environment("3.11.7", "Linux", {"anthropic": "2.13.0"})
    found = against(with_ratio(9.0), outcome(environment=there))
    assert found.elsewhere == ("anthropic: 2.13.0 then, 2.12.0 now",)
    # What is left is the ratio of the path to itself.
    assert (found.counts, found.ratios, found.worse) == (2, 1, ())


def test_a_count_of_encodings_that_one_run_lacks_is_a_change() -> None:
    [worse] = against(with_count(encoded=None), outcome()).worse
    assert (worse.what, worse.before, worse.now) == ("encoded of turn, stateless, 2 messages", "1", "not counted")
