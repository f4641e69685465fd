"""Goals are data: read strictly, and met, missed or not measured, which is neither."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from turnproof.bench.goals import Goal, load_goals, standings
from turnproof.bench.report import Ratio
from turnproof.bindings import resolve_binding
from turnproof.errors import UsageError

from .made_up import adapter, outcome

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
GOAL = """
[[goal]]
adapter = "mine"
figure = "turn"
caller = "stateless"
to = "sdk.call"
messages = 2
at_most = 0.5
"""


def goal(at_most: float, **changes: object) -> Goal:
    given: dict[str, object] = {"figure": "turn", "caller": "stateless", "to": "sdk.call", "messages": 2}
    return Goal(adapter="mine", at_most=at_most, **given | changes)  # type: ignore[arg-type]


def test_the_reference_adapters_goals_name_adapters_and_calls_that_exist() -> None:
    adapters = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]["turnproof.adapters"]
    goals = load_goals()
    measured = {name for name, target in adapters.items() if resolve_binding(target).plain_calls}
    assert {goal.adapter for goal in goals} == measured
    for each in goals:
        binding = resolve_binding(adapters[each.adapter])
        assert binding.name == each.adapter
        assert each.to in {*binding.plain_calls, "legacy", each.caller}
        assert each.caller in ("stateless", "legacy")


@pytest.mark.parametrize(
    ("adapter", "to", "messages", "at_most"),
    [
        ("anthropic", "messages.create", 2, 1.15),
        ("anthropic", "messages.create", 200, 0.60),
        ("anthropic", "messages.create", 1000, 0.22),
        ("google_genai", "generate_content", 1000, 0.010),
    ],
)
def test_the_goals_of_a_turn_are_there(adapter: str, to: str, messages: int, at_most: float) -> None:
    found = [
        each.at_most
        for each in load_goals()
        if (each.adapter, each.figure, each.caller, each.to, each.messages)
        == (adapter, "turn", "stateless", to, messages)
    ]
    assert found == [at_most]


@pytest.mark.parametrize("adapter", ["anthropic", "google_genai"])
def test_a_turn_over_a_long_history_is_to_cost_little_more_than_over_a_short_one(adapter: str) -> None:
    [flat] = [each for each in load_goals() if each.adapter == adapter and each.to == each.caller]
    assert (flat.messages, flat.to_messages, flat.at_most) == (1000, 2, 1.8)


def test_a_file_of_ones_own_replaces_them(tmp_path: Path) -> None:
    file = tmp_path / "goals.toml"
    file.write_text(GOAL)
    assert load_goals(file) == (goal(0.5),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOAL + "at_least = 1\n", "unknown field `at_least` - at `$.goal[0]`"),
        (GOAL.replace("turn", "turns"), "Invalid enum value 'turns' - at `$.goal[0].figure`"),
        (GOAL.replace("0.5", '"0.5"'), "Expected `float`, got `str` - at `$.goal[0].at_most`"),
        (GOAL.replace("adapter", "adaptor"), "`$.goal[0]`"),
        (GOAL.replace("goal", "goals"), "unknown field `goals`"),
        ("", "missing required field `goal`"),
        ("[[goal", "cannot read it as TOML"),
    ],
)
def test_a_file_that_is_no_table_of_goals_is_refused_with_its_spot(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "goals.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        load_goals(file)
    assert str(refused.value).startswith(f"{file}: ")
    assert says in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.toml: cannot read it"):
        load_goals(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("asked", "standing", "value"),
    [
        (goal(0.51), "met", 0.5),
        (goal(0.5), "met", 0.5),
        (goal(0.49), "missed", 0.5),
        (goal(1.4, messages=200, to="stateless", to_messages=2), "missed", 1.5),
        (goal(9, messages=200), "not measured", None),
        (goal(9, figure="stream"), "not measured", None),
        (goal(9, to="stateless"), "not measured", None),
    ],
)
def test_a_goal_is_met_missed_or_not_measured(asked: Goal, standing: str, value: float | None) -> None:
    [found] = standings([asked], outcome())
    assert (found.standing, found.value, found.at_most) == (standing, value, asked.at_most)


@pytest.mark.parametrize(("low", "standing"), [(0.5, "met"), (0.51, "missed"), (0.6, "missed")])
def test_a_goal_is_missed_only_if_the_best_round_misses_it(low: float, standing: str) -> None:
    noisy = adapter(ratios=(Ratio("turn", "stateless", 2, "sdk.call", 2, 0.6, low, 0.9),))
    [found] = standings([goal(0.5)], outcome(adapters={"mine": noisy}))
    assert (found.standing, found.value, found.best) == (standing, 0.6, low)


def test_goals_of_adapters_that_did_not_take_part_are_left_out() -> None:
    other = Goal("other", "turn", "stateless", "sdk.call", 2, 1.0)
    assert [each.adapter for each in standings([other, goal(1)], outcome())] == ["mine"]


def test_the_ratio_of_another_adapter_does_not_meet_a_goal() -> None:
    worse = adapter(ratios=(Ratio("turn", "stateless", 2, "sdk.call", 2, 3.0, 3.0, 3.0),))
    [found] = standings([goal(1)], outcome(adapters={"other": adapter(), "mine": worse}))
    assert found.standing == "missed"
