"""The choice of the default depth: what detects most for each second is first, and what nobody detects is told."""

from __future__ import annotations

import pytest
from depth.choice import Scenes, alone, greedy, missed, spare
from depth.detections import Detections, Sample, joined, measure
from depth.needed import groups

from turnproof._base.depth import DEFAULT_DEPTH
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import load_suite
from turnproof.run.driver.mutation import all_mutants, mutant_named

OPENAI = Detections(
    adapter="openai",
    seed=0,
    at_most=3,
    seconds={"a/dear": 4.0, "a/cheap": 0.5, "a/same": 0.5, "a/idle": 0.1},
    caught={"one": ("a/dear", "a/cheap"), "two": ("a/dear",), "three": ("a/cheap", "a/same")},
    missed={"one": ("a/idle",)},
)
ZAI = Detections(adapter="zai", seed=0, at_most=3, seconds={"a/dear": 4.0}, caught={"one": ("a/dear",)}, missed={})


def test_what_detects_most_for_its_seconds_is_first_and_what_adds_nothing_is_left_out() -> None:
    steps = list(greedy(Scenes.of([OPENAI], {})))
    assert [(one.scenario, one.new, one.detected, one.seconds) for one in steps] == [
        ("a/cheap", 2, 2, 0.5),
        ("a/dear", 1, 3, 4.5),
    ]


def test_a_requirement_that_only_one_scenario_decides_counts_as_a_detection() -> None:
    steps = list(greedy(Scenes.of([OPENAI], {"a/idle": {("openai", "core/one")}})))
    assert [one.scenario for one in steps] == ["a/idle", "a/cheap", "a/dear"]


def test_several_adapters_add_up() -> None:
    scenes = Scenes.of([OPENAI, ZAI], {})
    assert scenes.cost(["a/dear"]) == 8.0
    assert scenes.detected(["a/dear"]) == {("openai", "one"), ("openai", "two"), ("zai", "one")}


def test_a_choice_says_what_it_misses_and_what_each_scenario_detects_alone() -> None:
    scenes = Scenes.of([OPENAI], {})
    assert missed(scenes, ["a/cheap", "a/same"]) == {("openai", "two")}
    assert alone(scenes, ["a/cheap", "a/same"]) == {"a/cheap": {("openai", "one")}, "a/same": frozenset()}


def test_a_choice_can_do_without_what_the_others_detect_but_not_without_what_is_needed() -> None:
    scenes = Scenes.of([OPENAI], {})
    every = ["a/dear", "a/cheap", "a/same"]
    assert spare(scenes, every, []) == ["a/cheap"]
    assert spare(scenes, every, [{"a/cheap", "a/none"}]) == ["a/same"]


def test_a_scenario_of_the_default_depth_decides_each_requirement_in_each_dialect_that_has_it() -> None:
    quick = {one.name for one in suite_scenarios(load_suite()) if one.is_in(DEFAULT_DEPTH)}
    needed = list(groups())
    assert len(needed) > len(load_suite().requirements)
    assert [group for group in needed if not group & quick] == []


def test_measurements_of_one_adapter_add_up_and_keep_the_first_costs() -> None:
    more = Detections(adapter="openai", seed=1, at_most=1, seconds={}, caught={"two": ("a/idle",)}, missed={})
    both = joined(OPENAI, more)
    assert both.caught["two"] == ("a/dear", "a/idle")
    assert both.seconds == OPENAI.seconds


def test_a_mutant_is_tried_in_its_own_scenarios_in_those_of_the_list_and_in_a_drawn_sample() -> None:
    mutant = all_mutants()["refusal-unknown"]
    others = [f"x/{number}" for number in range(20)]
    chosen = Sample(3, 0, frozenset({"x/7"})).scenarios(mutant, ["finish/reasons"], others)
    assert chosen[:2] == ["finish/reasons", "x/7"]
    assert len(chosen) == len(set(chosen)) == 5
    assert chosen == Sample(3, 0, frozenset({"x/7"})).scenarios(mutant, ["finish/reasons"], others)


def test_a_mutant_can_be_applied_outside_of_its_scenarios() -> None:
    wide = mutant_named("tests.depth.everywhere:refusal-unknown")
    assert wide.applies_to("basics/plain", "stateless")
    assert not all_mutants()["refusal-unknown"].applies_to("basics/plain", "stateless")
    with pytest.raises(CatalogueError, match="nosuch"):
        mutant_named("tests.depth.everywhere:nosuch")


@pytest.mark.long
def test_a_measurement_has_who_detects_a_mutant_and_what_every_scenario_costs() -> None:
    found = measure("openai", Sample(2, 0), ["system-dropped-with-history"])
    assert "basics/system_changes" in found.caught["system-dropped-with-history"]
    assert len(found.seconds) > 60
    assert all(took > 0 for took in found.seconds.values())
