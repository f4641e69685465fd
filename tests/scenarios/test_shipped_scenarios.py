"""The scenarios we ship load, cover what scenarios can express, and keep to the rules that no loader can enforce."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import turnproof_suites
from turnproof._base.depth import DEFAULT_DEPTH
from turnproof.messages import FinishReason, FunctionCall, Message, Text
from turnproof.provider import ASSUMED, Capabilities
from turnproof.scenarios import Scenario, load_all
from turnproof.scenarios._turns import BEFORE, ERRORS, EVENTS
from turnproof.scenarios.loader import PROBES
from turnproof.scenarios.model import CutPoint, FaultKind, Turn

SCENARIOS = load_all(Path(next(iter(turnproof_suites.__path__))) / "scenarios")

every = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))


def turns() -> list[Turn]:
    return [turn for scenario in SCENARIOS.values() for turn in scenario.turns]


def test_there_are_many_and_a_quick_run_of_an_adapter_has_few_enough() -> None:
    """Those of kept conversations and of numbered blocks come on top, for adapters of such a service alone."""
    quick = [one for one in SCENARIOS.values() if one.is_in(DEFAULT_DEPTH) and one.subject == "adapter"]
    traits = ("wire:held-history", "wire:numbered-blocks")  # no service has both
    of_some_services = [one for one in quick if not set(traits).isdisjoint(one.features)]
    assert len(SCENARIOS) >= 32
    assert 28 <= len(quick) - len(of_some_services) <= 65
    assert sum(len(one.modes) for one in quick if one not in of_some_services) <= 100
    for trait in traits:
        assert 1 <= sum(len(one.modes) for one in of_some_services if trait in one.features) <= 28


def test_a_scenario_gives_way_to_one_of_the_default_depth_that_needs_more() -> None:
    for scenario in SCENARIOS.values():
        for other in map(SCENARIOS.__getitem__, scenario.unless):
            assert other.is_in(DEFAULT_DEPTH), scenario.name
            assert set(scenario.features) < set(other.features), scenario.name


def test_what_only_sessions_run_is_little_more() -> None:
    """And has something in it that no adapter is asked for."""
    for_sessions = [scenario for scenario in SCENARIOS.values() if scenario.subject == "session"]
    assert 1 <= len(for_sessions) <= 30
    for scenario in for_sessions:
        operations = {action for turn in scenario.turns for action in turn.before} | set(scenario.operations)
        own = {"tamper", "damaged-load", "reset", "revert", "stop", "other_path", "spawn", "adopt", "inject"}
        own |= {"interject", "background", "enrichment", "takes_back"}
        is_longer_than_windows = scenario.name == "history/window"  # what an adapter is given, it sends
        assert operations & own or scenario.options.get("context_tokens") or is_longer_than_windows, scenario.name


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_kind_of_fault_happens(kind: str) -> None:
    assert any(fault.kind == kind for turn in turns() for fault in turn.faults)


@pytest.mark.parametrize("at", get_args(CutPoint))
def test_every_kind_of_cancel_happens(at: str) -> None:
    assert any(turn.cancel is not None and turn.cancel.at == at for turn in turns())


@pytest.mark.parametrize("kind", sorted(set(EVENTS) - {"end"}))
def test_something_happens_after_every_kind_of_event(kind: str) -> None:
    """But for the last, when all is over."""
    happenings = [turn.cancel for turn in turns() if turn.cancel] + [fault for turn in turns() for fault in turn.faults]
    assert any(happening.after is not None and happening.after.startswith(f"{kind}:") for happening in happenings)


@pytest.mark.parametrize("action", BEFORE)
def test_every_action_happens(action: str) -> None:
    assert any(action in turn.before for turn in turns())


def test_a_session_goes_back_and_is_stopped() -> None:
    assert {turn.revert is not None for turn in turns()} == {True, False}
    assert {turn.cancel.by for turn in turns() if turn.cancel is not None} == {"token", "stop", "kill"}


LOSS_ERRORS = {"AnswerLostError", "CacheExpiredError", "ChainLostError", "ResumeError"}
"""A cache and a chain that are gone are begun again, an answer that is gone is requested again; a session that is
gone is no error of a turn."""


@pytest.mark.parametrize("error", sorted(set(ERRORS) - LOSS_ERRORS - {"ContentFilterError"}))
def test_every_error_is_expected_somewhere(error: str) -> None:
    """But for the content filter, which no status gives away."""
    assert any(turn.error == error for turn in turns())


@pytest.mark.parametrize("reason", sorted(set(FinishReason) - {"error", "cancelled", "safety"}))
def test_every_way_to_finish_happens(reason: str) -> None:
    """But for those that no service says by itself, and `safety`, which the dialect at hand has no word for."""
    assert any(round_.finish == reason for turn in turns() for round_ in turn.rounds)


@pytest.mark.parametrize(
    "feature",
    sorted(
        {field.name for field in fields(Capabilities)}
        - {
            "mid_system",
            "count_tokens",
            "serialisers",
            "error_details",
            "thinking_tokens",
            "lifecycle",
            "chain",
            "chain_deletion",
            "window",
            *ASSUMED,
        }
        | {"image_urls"}
    ),
)
def test_every_capability_of_a_conversation_is_needed_somewhere(feature: str) -> None:
    """Counting, serialising, lifecycle, late instructions, who keeps and deletes the history, how much of it is sent,
    what else an error says and the form of a response are not in a scripted turn."""
    needed = {name.partition(":")[0] for scenario in SCENARIOS.values() for name in scenario.features}
    assert feature in needed


@pytest.mark.parametrize("probe", PROBES)
def test_every_probe_is_made_in_a_quick_run(probe: str) -> None:
    assert any(probe in scenario.probes for scenario in SCENARIOS.values() if scenario.is_in(DEFAULT_DEPTH))


@every
def test_what_goes_wrong_is_followed_by_a_turn_that_goes_right(scenario: Scenario) -> None:
    """The request after an abnormal turn is what shows the defect."""
    last = scenario.turns[-1]
    assert last.expect == "answer"
    assert not last.faults


@every
def test_calls_stand_last_in_their_answer_but_where_that_is_the_point(scenario: Scenario) -> None:
    """Anthropic takes no text behind a call back: one scenario shows what an adapter makes of it."""
    rounds = [round_ for turn in scenario.turns for round_ in turn.rounds]
    kinds = [[isinstance(part.part, FunctionCall) for part in round_.parts] for round_ in rounds]
    assert all(each == sorted(each) for each in kinds) is (scenario.name != "tools/call_between_texts")


@every
def test_thinking_is_on_where_the_model_thinks_and_there_in_every_tool_round(scenario: Scenario) -> None:
    """While a tool loop runs with thinking on, the API wants each of its answers to begin with thinking."""
    thinks = [
        type(round_.parts[0].part).__name__ == "Thought"
        for turn in scenario.turns
        for round_ in turn.rounds
        if any(isinstance(part.part, FunctionCall) for part in round_.parts)
    ]
    if "thinking" in scenario.options:
        # An adapter leaves the setting out of a loop that began without thinking, and the API takes that.
        assert all(thinks) or scenario.name == "thinking/loop_without_thoughts"
        assert scenario.options["max_tokens"] > scenario.options["thinking"]["budget_tokens"]
    else:
        assert "thinking" not in scenario.features


@every
def test_a_scenario_says_what_it_is_for(scenario: Scenario) -> None:
    first = Path(scenario.file).read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert 10 < len(scenario.title) < 90
    assert not scenario.title.endswith(".")


def test_titles_are_unique() -> None:
    titles = [scenario.title for scenario in SCENARIOS.values()]
    assert len(set(titles)) == len(titles)


def test_the_cached_prefix_is_large_enough_to_be_stored() -> None:
    """1,024 tokens at about four characters each is the smallest prefix that the model at hand stores."""
    for scenario in SCENARIOS.values():
        if scenario.cache and scenario.name != "cache/small_prefix":
            assert scenario.system is not None
            assert len(scenario.system) > 4 * 1024, scenario.name


def test_what_the_user_says_is_a_message_that_can_be_sent() -> None:
    for turn in turns():
        if turn.user:
            assert not all(isinstance(part, Text) and not part.text.strip() for part in Message.user(*turn.user).parts)
