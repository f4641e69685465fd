"""Points of a sweep: what is derived from a scenario, under which name, and what cannot be swept."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from scenarios.bad import Bad, check_refused, file

import turnproof_suites
from turnproof.dialects import dialect
from turnproof.dialects.base import Call, PromptUsage, Reply, World
from turnproof.scenarios import Scenario, load
from turnproof.scenarios.model import Cut, Fault
from turnproof.scenarios.sweep import HAPPENINGS, base_of, is_point, points, scenario_named

FOLDER = Path(next(iter(turnproof_suites.__path__))) / "scenarios"
SCENARIOS = {name: load(FOLDER / f"{name}.yaml") for name in ("sweep/calls", "sweep/thinking", "basics/plain")}
CALLS, THINKING = SCENARIOS["sweep/calls"], SCENARIOS["sweep/thinking"]

MODELS = {"anthropic-messages": "claude-sonnet-4-5", "gemini": "gemini-3-flash-preview"}


def kinds(scenario: Scenario, wire: str, seed: str = "seed") -> list[str]:
    """The kinds of event of the answer that is swept, as a service of this dialect streams it."""
    assert scenario.sweep is not None
    api = dialect(wire)
    scripted = scenario.turns[scenario.sweep.turn].rounds[scenario.sweep.round]
    world = World(keys=frozenset(), models=api.models, clock=lambda: 0.0)
    settings = {"thinkingConfig": {"includeThoughts": True}}
    call = Call("generate", MODELS[wire], stream=True, tools=scenario.tools, settings=settings)
    rendered = api.render(call, Reply(scripted.parts, scripted.finish), PromptUsage(10), world, seed)
    return [event.kind for event in rendered.events if event.kind != "ping"]


def test_every_event_is_a_point_for_each_thing_that_can_happen_there() -> None:
    names = [point.name for point in points(CALLS, 5)]
    usual = [happening for happening in HAPPENINGS if happening != "kill"]
    for index in range(4):
        assert [f"sweep/calls#{happening}@{index}" for happening in usual] == names[7 * index : 7 * index + 7]
    assert len(names) == len(set(names))


def test_a_scenario_may_say_what_happens_to_its_answer() -> None:
    assert CALLS.sweep is not None
    killed = list(points(replace(CALLS, sweep=replace(CALLS.sweep, only=("kill",))), 5))
    assert [point.name.partition("#")[2] for point in killed] == [f"kill@{index}" for index in range(5)]
    turns = [point.turns[CALLS.sweep.turn] for point in killed]
    assert [turn.cancel and (turn.cancel.by, turn.cancel.index) for turn in turns] == [("kill", n) for n in range(5)]
    assert {turn.expect for turn in turns} == {"error"}


def test_behind_the_last_event_only_counts_what_is_done_with_a_whole_answer() -> None:
    last = [point.name.partition("#")[2] for point in points(CALLS, 5) if point.name.endswith("@4")]
    assert last == ["cancel@4", "reset@4", "stall@4", "truncate@4"]


@pytest.mark.parametrize("wire", MODELS)
def test_each_kind_of_event_that_an_api_has_is_swept(wire: str) -> None:
    seen = {kind for scenario in (CALLS, THINKING) for kind in kinds(scenario, wire)}
    expected = {"text", "thinking", "args", "end"}
    assert seen >= (
        expected if wire == "gemini" else expected | {"start", "block_start", "signature", "block_end", "usage"}
    )


@pytest.mark.parametrize("scenario", [CALLS, THINKING], ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("wire", MODELS)
def test_an_answer_has_the_same_events_whatever_the_seed(scenario: Scenario, wire: str) -> None:
    """A point is named by an index, so the index must mean the same event in every run."""
    assert len({tuple(kinds(scenario, wire, str(seed))) for seed in range(8)}) == 1


def test_a_cancelled_turn_has_no_round_behind_the_cancel() -> None:
    point = next(points(CALLS, 5))
    turn = point.turns[0]
    assert (turn.cancel, turn.expect, len(turn.rounds)) == (Cut("event", 0, 0), "cancelled", 1)
    assert point.turns[1:] == CALLS.turns[1:]


def test_a_broken_turn_is_broken_once_and_goes_on() -> None:
    point = scenario_named("sweep/thinking#error-event@3", SCENARIOS)
    assert point is not None
    turn = point.turns[0]
    assert turn.faults == (Fault("error-event", round=1, index=3, status=529),)
    assert (turn.rounds, turn.expect) == (THINKING.turns[0].rounds, "answer")


def test_a_point_needs_what_its_scenario_needs_and_what_happens_in_it() -> None:
    cancelled, broken = (next(points(CALLS, 2)), list(points(CALLS, 2))[1])
    assert set(cancelled.features) == {*CALLS.features, "cancel"}
    assert set(broken.features) == {*CALLS.features, "typed_errors"}
    assert (cancelled.depth, cancelled.modes, cancelled.sweep) == ("full", ("stream",), None)


def test_only_a_silent_service_tries_the_clients_patience() -> None:
    patient = {point.name: "timeout" in point.options for point in points(THINKING, 1)}
    assert [name for name, timed in patient.items() if timed] == ["sweep/thinking#stall@0"]
    assert all("thinking" in point.options for point in points(THINKING, 1))


def test_a_point_is_found_by_its_name_alone() -> None:
    for point in points(THINKING, 12):
        assert is_point(point.name)
        assert base_of(point.name) == THINKING.name
        assert scenario_named(point.name, SCENARIOS) == point


@pytest.mark.parametrize(
    "name",
    ["sweep/calls#cancel@07", "sweep/calls#cancel@", "sweep/calls#cancel", "sweep/calls#wish@1", "sweep/calls#",
     "sweep/calls#cancel@-1", "sweep/calls#cancel@²", "basics/plain#cancel@1", "sweep/cals#cancel@1", ""],
)  # fmt: skip
def test_a_name_that_is_nearly_a_points_is_nobodys(name: str) -> None:
    assert scenario_named(name, SCENARIOS) is None


def test_a_scenario_is_found_under_its_own_name() -> None:
    assert scenario_named("basics/plain", SCENARIOS) is SCENARIOS["basics/plain"]
    assert not is_point("basics/plain")


SWEPT = """\
title: T
tools: [{{name: read, takes: {{bed: string}}}}]
sweep: {sweep}
turns:
  - user: a
    model: {model}
    {more}
  - user: b
    model: c
"""


RESULT = "results: {read: 41 %}"


def swept(id: str, reason: str, *, sweep: str = "{}", model: str = "[[{text: [b]}]]", more: str = "") -> Bad:
    return file(id, SWEPT.format(sweep=sweep, model=model, more=more), "$.sweep", reason)


@pytest.mark.parametrize(
    "bad",
    [
        swept("last-turn", "turn 1 is not followed by another one", sweep="{turn: 1}"),
        swept("no-such-round", "turn 0 has 1 round, counted from 0, so no round 1", sweep="{round: 1}"),
        swept("text-cut-by-the-dialect", "needs its pieces", model="[[b]]"),
        swept(
            "call-cut-by-the-dialect", "needs its pieces", model='[[{call: read, args: {bed: "1"}}], [b]]', more=RESULT
        ),
        swept("cancelled", "is cancelled or broken already", more='cancel: {after: "text:1"}'),
        swept("broken", "is cancelled or broken already", more="faults: {kind: reset}"),
        swept("no-mapping", "expected a sweep", sweep="true"),
    ],
    ids=lambda bad: bad.id,
)
def test_what_cannot_be_swept_is_refused(bad: Bad, tmp_path: Path) -> None:
    check_refused(bad, tmp_path)


def test_a_call_without_arguments_needs_no_pieces(tmp_path: Path) -> None:
    here = tmp_path / "bare.yaml"
    here.write_text(SWEPT.format(sweep="{}", model="[[{call: read}], [b]]", more=RESULT))
    assert load(here).sweep is not None
