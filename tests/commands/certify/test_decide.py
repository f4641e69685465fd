"""What a subject lacks, or does not show, is not claimed, and the verdict says what it is."""

from __future__ import annotations

from typing import Any

import pytest
from suites.conversations import plain
from suites.test_history_checks import uncalled

from turnproof.commands.certify.decide import Claimed, decide, lacking_for, spelled
from turnproof.judge.requirements import Requirement, load_suite
from turnproof.judge.verdict import Status
from turnproof.messages import FinishReason, InlineData, Text
from turnproof.provider import Capabilities
from turnproof.scenarios.model import Scenario, ScriptRound, Turn
from turnproof.subject import OPERATIONS

ALL = Capabilities(streaming=True, tools=True)


def requirement(name: str) -> Requirement:
    return load_suite().catalogue[name]


def claimed(kind: Any = "session", operations: Any = OPERATIONS, scenarios: tuple[Scenario, ...] = ()) -> Claimed:
    return Claimed(ALL, (), scenarios, kind, operations)


def test_a_session_that_shows_its_calls_is_judged_as_an_adapter_is() -> None:
    verdict = decide(requirement("core/text-is-what-the-wire-carried"), "stateless", [plain()], claimed())
    assert verdict.status is Status.HELD


@pytest.mark.parametrize("path", ["stateless", "parity"])
@pytest.mark.parametrize(
    ("name", "what_lacks"),
    [
        ("core/arguments-are-left-alone", ""),
        ("core/finish-reason-says-why", ", and its replies have no response"),
        ("streaming/calls-are-announced-once", ", and does not claim shows_calls"),
        ("core/order-of-conversations-does-not-matter", ", and does not claim adopt()"),
        ("core/threads-are-not-mixed", ", and does not claim adopt(), spawn(), children_at_once"),
    ],
)
def test_a_session_that_shows_none_does_not_claim_what_they_would_show(path: str, name: str, what_lacks: str) -> None:
    verdict = decide(requirement(name), path, [uncalled(plain())], claimed(operations=("usage",)))
    expected = (Status.NOT_CLAIMED, f"the session does not show its provider calls{what_lacks}")
    assert (verdict.status, verdict.message) == expected


def test_an_adapter_without_a_call_is_no_session_that_hides_them() -> None:
    name = requirement("core/text-is-what-the-wire-carried")
    assert decide(name, "stateless", [uncalled(plain())], claimed("adapter")).status is Status.INCONCLUSIVE


def test_a_session_of_which_there_is_no_run_hides_nothing() -> None:
    verdict = decide(requirement("core/text-is-what-the-wire-carried"), "stateless", [], claimed())
    assert verdict.status is Status.INCONCLUSIVE


def test_what_needs_no_call_is_judged_without_one() -> None:
    for name in ("core/turns-come-to-an-end", "history/what-was-said-is-held"):
        assert decide(requirement(name), "stateless", [uncalled(plain())], claimed()).status is Status.HELD


def test_an_operation_that_a_session_lacks_is_named() -> None:
    verdict = decide(
        requirement("history/damaged-save-is-refused"), "stateless", [plain()], claimed(operations=("load",))
    )
    assert (verdict.status, verdict.message) == (Status.NOT_CLAIMED, "the session lacks save()")


def test_ids_are_no_function_and_are_not_spelled_as_one() -> None:
    verdict = decide(requirement("history/message-ids-are-kept"), "stateless", [plain()], claimed(operations=()))
    assert verdict.message == "the session lacks message_ids"
    assert spelled("revert") == "revert()"


def test_spans_are_spelled_with_what_has_to_be_there_to_see_them() -> None:
    verdict = decide(requirement("telemetry/turn-has-a-span-tree"), "stateless", [plain()], claimed(operations=()))
    assert verdict.message == "the session lacks spans (or opentelemetry-sdk is not installed)"


def test_what_no_run_shows_for_want_of_an_operation_names_the_operation() -> None:
    picture = (Text("Look."), InlineData(mime_type="image/png", data=b"png"))
    scenario = Scenario("history/x", "X", (Turn(user=picture, rounds=(ScriptRound((), "stop"),)),))  # type: ignore[arg-type]
    verdict = decide(
        requirement("history/returned-list-is-a-copy"), "stateless", [], claimed(operations=(), scenarios=(scenario,))
    )
    assert (verdict.status, verdict.message) == (
        Status.NOT_CLAIMED,
        "no run shows it without what the session does not claim: send_parts()",
    )


def test_a_scenario_lacks_features_and_operations() -> None:
    scenario = Scenario("x/y", "X", (Turn(user=(), rounds=(), before=("gc", "reset")),), features=("thinking", "tools"))
    assert lacking_for(scenario, ALL, ("reset",)) == ["thinking", "collect()"]


def shown_by(name: str, *features: str) -> Scenario:
    return Scenario(name, "T", (Turn((Text("hi"),), (ScriptRound((), FinishReason.STOP),)),), features=features)


def test_what_a_scenario_that_ran_should_have_shown_is_not_excused_by_one_that_did_not() -> None:
    thinks = Capabilities(streaming=True, tools=True, thinking=True, wire=frozenset({"signed-thinking"}))
    signed_thinking = requirement("thinking/signed-thinking-goes-back-in-a-tool-loop")
    pictures = shown_by("media/images_only", "images", "thinking", "tools")
    view = plain()
    both = Claimed(thinks, (), (pictures, shown_by(view.key.scenario, "thinking", "tools")), "adapter")
    assert decide(signed_thinking, "stateless", [view], both).status is Status.INCONCLUSIVE
    neither = Claimed(thinks, (), (pictures, shown_by("thinking/with_tools", "thinking", "tools")), "adapter")
    verdict = decide(signed_thinking, "stateless", [view], neither)
    assert verdict.status is Status.NOT_CLAIMED
    assert "images" in verdict.message
