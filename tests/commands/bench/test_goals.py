"""Goals are data: read strictly, and met, missed or not measured, which is neither."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from refused_files import why_refused

from turnproof.commands.bench.floor import FLOOR
from turnproof.commands.bench.goals import Goal, Goals, OwnGoal, load_goals, standings
from turnproof.commands.bench.own_cost.cassettes import Cassettes
from turnproof.commands.bench.own_cost.certification import Certifying, Contexts
from turnproof.commands.bench.own_cost.imports import ImportedSdks, Imports
from turnproof.commands.bench.own_cost.parts import _whose
from turnproof.commands.bench.own_cost.plugin import Plugin
from turnproof.commands.bench.own_cost.server import Server
from turnproof.commands.bench.report import Own, OwnRatio, Ratio
from turnproof.errors import UsageError
from turnproof.run.bindings import resolve_binding

from .sample_outcomes import adapter, outcome

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
GOAL = """
[[goal]]
adapter = "mine"
figure = "turn"
caller = "stateless"
to = "sdk.call"
messages = 2
at_most = 0.5
"""


def goal(at_most: float, **changes: Any) -> Goal:
    defaults = {"adapter": "mine", "figure": "turn", "caller": "stateless", "to": "sdk.call", "messages": 2}
    return Goal(**{**defaults, "at_most": at_most, **changes})


def test_the_reference_adapters_goals_name_adapters_and_calls_that_exist() -> None:
    adapters = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]["turnproof.adapters"]
    goals = load_goals().goal
    assert {name for goal in goals for name in goal.adapters} == set(adapters)
    for each in goals:
        for name in each.adapters:
            binding = resolve_binding(adapters[name])
            assert binding.name == name
            assert each.to in {*binding.plain_calls, FLOOR, "legacy", each.caller}
            assert each.caller in ("stateless", "legacy")


def test_every_goal_has_an_id_and_stands_once() -> None:
    goals = load_goals().goal
    stands = [
        (goal.id, goal.figure, name, length) for goal in goals for name in goal.adapters for length in goal.lengths
    ]
    assert all(goal.id for goal in goals)
    assert len(set(stands)) == len(stands)


@pytest.mark.parametrize(
    ("id", "adapter", "messages", "at_most", "stretch"),
    [
        ("G1", "anthropic", 1000, 0.22, 0.15),
        ("G2", "openai", 1000, 0.015, 0.009),
        ("G3", "google_genai", 1000, 0.010, 0.004),
        ("G4", "github_models", 1000, 0.45, 0.33),
        ("G5", "zai", 4000, 3.0, 2.4),
        ("G6", "antigravity", 1000, 1.8, 1.4),
        ("G8", "google_genai", 1000, 0.02, None),
        ("G7", "google_genai", 400, 0.035, 0.02),
        ("G9", "anthropic", 2, 0.60, 0.40),
        ("G11", "openai", 1000, 2.5, 1.7),
    ],
)
def test_the_goals_are_those_that_were_set(
    id: str, adapter: str, messages: int, at_most: float, stretch: float | None
) -> None:
    found = [
        (each.at_most, each.stretch)
        for each in load_goals().goal
        if each.id == id and adapter in each.adapters and messages in each.lengths
    ]
    assert found == [(at_most, stretch)]


def test_a_file_of_ones_own_replaces_them(tmp_path: Path) -> None:
    file = tmp_path / "goals.toml"
    file.write_text(GOAL)
    assert load_goals(file) == Goals((goal(0.5),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOAL + "at_least = 1\n", "unknown field `at_least` - at `$.goal[0]`"),
        (GOAL.replace("turn", "turns"), "Invalid enum value 'turns' - at `$.goal[0].figure`"),
        (GOAL.replace("0.5", '"0.5"'), "Expected `float`, got `str` - at `$.goal[0].at_most`"),
        (GOAL.replace("adapter", "adaptor"), "`$.goal[0]`"),
        (GOAL.replace("goal", "goals"), "unknown field `goals`"),
        (GOAL + "stretch = 0.6\n", "the stretch, 0.6, is easier than the goal, 0.5 - at `$.goal[0]`"),
        (GOAL.replace("0.5", "-1.0"), "Expected `float` >= 0.0 - at `$.goal[0].at_most`"),
        ("", "missing required field `goal`"),
        ("[[goal", "cannot read it as TOML"),
    ],
)
def test_a_file_that_is_no_table_of_goals_is_refused_with_its_spot(tmp_path: Path, text: str, says: str) -> None:
    assert says in why_refused(load_goals, tmp_path / "goals.toml", text)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.toml: cannot read it"):
        load_goals(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("target", "standing", "value"),
    [
        (goal(0.51), "reached", 0.5),
        (goal(0.5), "reached", 0.5),
        (goal(0.39), "missed", 0.5),
        (goal(1.4, messages=200, to="stateless", to_messages=2), "missed", 1.5),
        (goal(9, messages=200), "not measured", None),
        (goal(9, figure="stream"), "not measured", None),
        (goal(9, to="stateless"), "not measured", None),
    ],
)
def test_a_goal_is_reached_missed_or_not_measured(target: Goal, standing: str, value: float | None) -> None:
    [found] = standings(Goals((target,)), outcome())
    assert (found.standing, found.value, found.at_most) == (standing, value, target.at_most)


@pytest.mark.parametrize(("low", "standing"), [(0.5, "reached"), (0.51, "missed"), (0.6, "missed")])
def test_a_goal_is_missed_only_if_the_best_round_misses_it(low: float, standing: str) -> None:
    noisy = adapter(ratios=(Ratio("turn", "stateless", 2, "sdk.call", 2, 0.6, low, 0.9),))
    [found] = standings(Goals((goal(0.5),)), outcome(adapters={"mine": noisy}))
    assert (found.standing, found.value, found.low) == (standing, 0.6, low)


@pytest.mark.parametrize(
    ("stretch", "standing"), [(0.5, "stretch reached"), (0.49, "reached"), (0.1, "reached"), (None, "reached")]
)
def test_a_stretch_is_reached_by_the_ratio_and_not_by_its_best_round(stretch: float | None, standing: str) -> None:
    noisy = adapter(ratios=(Ratio("turn", "stateless", 2, "sdk.call", 2, 0.5, 0.1, 0.9),))
    [found] = standings(Goals((goal(0.6, stretch=stretch),)), outcome(adapters={"mine": noisy}))
    assert found.standing == standing


def test_a_missed_goal_is_no_reached_stretch_whatever_the_stretch_is() -> None:
    [found] = standings(Goals((goal(0.1, stretch=0.1),)), outcome())
    assert found.standing == "missed"


def test_one_line_is_a_goal_for_each_of_its_adapters_and_lengths() -> None:
    many = goal(0.6, adapter=("mine", "other", "absent"), messages=(2, 200))
    found = list(standings(Goals((many,)), outcome(adapters={"other": adapter(), "mine": adapter()})))
    assert [(each.subject, each.words.split(",")[2], each.standing) for each in found] == [
        ("mine", " 2 messages / sdk.call", "reached"),
        ("mine", " 200 messages / sdk.call", "not measured"),
        ("other", " 2 messages / sdk.call", "reached"),
        ("other", " 200 messages / sdk.call", "not measured"),
    ]


def test_goals_of_adapters_that_did_not_take_part_are_left_out() -> None:
    other = goal(1, adapter="other")
    assert [
        each.subject
        for each in standings(
            Goals(
                (
                    other,
                    goal(1),
                )
            ),
            outcome(),
        )
    ] == ["mine"]


def test_the_ratio_of_another_adapter_does_not_meet_a_goal() -> None:
    worse = adapter(ratios=(Ratio("turn", "stateless", 2, "sdk.call", 2, 3.0, 3.0, 3.0),))
    [found] = standings(Goals((goal(1),)), outcome(adapters={"other": adapter(), "mine": worse}))
    assert found.standing == "missed"


OWN = Own(ratios=(OwnRatio("load", "ours", "theirs", 0.5, 0.4, 0.9),))


@pytest.mark.parametrize(
    ("at_most", "stretch", "standing"),
    [(0.5, 0.5, "stretch reached"), (0.5, 0.4, "reached"), (0.4, None, "reached"), (0.39, None, "missed")],
)
def test_goals_of_turnproof_itself_are_judged_alike(at_most: float, stretch: float | None, standing: str) -> None:
    target = OwnGoal(id="G0", figure="load", of="ours", to="theirs", at_most=at_most, stretch=stretch)
    [found] = standings(Goals((), (target,)), outcome(own=OWN))
    assert (found.id, found.subject, found.words, found.standing) == (
        "G0",
        "turnproof",
        "load, ours / theirs",
        standing,
    )


def test_goals_of_turnproof_itself_stand_only_where_it_was_measured() -> None:
    target = OwnGoal(figure="load", of="ours", to="others", at_most=1.0)
    assert list(standings(Goals((), (target,)), outcome())) == []
    [found] = standings(Goals((), (target,)), outcome(own=OWN))
    assert found.standing == "not measured"


def test_every_goal_of_turnproof_itself_is_a_ratio_that_a_part_makes() -> None:
    parts = (Server, Cassettes, Plugin, Imports, ImportedSdks, Certifying, Contexts)
    ratios = {(name, _whose(of, to), _whose(to, of)) for part in parts for name, of, to in part.ratios}
    assert {(goal.figure, goal.of, goal.to) for goal in load_goals().own} <= ratios
