"""What could not be decided says what would have decided it: as data, and in words with what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from suites.build import error, spoilt
from suites.conversations import plain, refused

from turnproof.commands.certify.decide import Claimed, decide
from turnproof.judge.requirements import REGISTRY, Shown, load_suite
from turnproof.judge.undecided import Obstacle, Undecided
from turnproof.judge.undecided_words import what_to_do, why_undecided
from turnproof.judge.verdict import Status, Verdict
from turnproof.judge.view import View
from turnproof.messages import FinishReason, Text
from turnproof.provider import Capabilities
from turnproof.run.tracebacks import Frame, Raised
from turnproof.run.transcript import Failed, Response, RunEnded, UsageUpdate, WireRequest
from turnproof.scenarios.model import Scenario, ScriptRound, Turn

WIRE = "anthropic-messages"
UPDATES = "accounting/response-has-the-last-update"
SPLIT = "streaming/characters-survive-the-cut"
STREAMS = Capabilities(streaming=True)


def scenario(name: str, *features: str, depth: str = "quick") -> Scenario:
    rounds = (ScriptRound((), FinishReason.STOP),)
    return Scenario(name, "T", (Turn((Text("hi"),), rounds),), features=features, depth=depth)  # type: ignore[arg-type]


def verdict_on(
    requirement: str, views: list[View], *scenarios: Scenario, shows: tuple[str, ...], claims: Capabilities = STREAMS
) -> Verdict:
    """What is decided where these scenarios show the requirement."""
    shown = Shown(frozenset({WIRE}), {requirement: {"alone": {"*": shows}}})
    subject = Claimed(claims, (), scenarios, "adapter", dialect=WIRE, shown=shown)
    return decide(load_suite().catalogue[requirement], "stateless", views, subject)


def raised(view: View) -> View:
    """The same run, but its first call raises."""
    frame = Frame(file="mine/adapter.py", line=41, function="complete", owner="subject", source="json.loads(data)")
    what = Raised(type="JSONDecodeError", module="json.decoder", message="Unterminated string", frames=(frame,))
    failed = replace(error("JSONDecodeError", typed=False), message="Unterminated string", raised=what, turn=0, call=0)
    return exchange_first_response(view, failed)


def exchange_first_response(view: View, failed: Failed) -> View:
    events = list(view.transcript.events)
    number = next(n for n, event in enumerate(events) if isinstance(event, Response))
    events[number] = failed
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def offending(view: View) -> View:
    """The same run, but the API refuses its first request by a rule."""
    rule = {
        "rule": "anthropic-messages/empty-text", "evidence": "REC", "message": "text is empty", "status": 400,
        "kind": "invalid_request_error", "path": "$.messages[0]", "enforced": True,
    }  # fmt: skip
    return spoilt(view, WireRequest, lambda event: replace(event, findings=(rule,)))


def silent(view: View) -> View:
    return spoilt(view, UsageUpdate, lambda event: None, every=True)


def cut(view: View) -> View:
    return spoilt(view, RunEnded, lambda event: replace(event, how="timeout", detail="30 s are over"))


@dataclass(frozen=True)
class Case:
    id: str
    requirement: str
    change: Callable[[View], View]
    kind: Obstacle
    why: str
    todo: str


CASES = [
    Case(
        "raised",
        SPLIT,
        raised,
        Obstacle.CALL_RAISED,
        "a call raised JSONDecodeError: Unterminated string at mine/adapter.py:41, in made/stateless/stream",
        "mend the call first",
    ),
    Case(
        "refused",
        SPLIT,
        offending,
        Obstacle.REQUEST_REFUSED,
        "the API refuses a request by the rule anthropic-messages/empty-text (text is empty), in made/stateless/stream",
        "mend the request first",
    ),
    Case(
        "cut",
        SPLIT,
        cut,
        Obstacle.RUN_CUT,
        "made/stateless/stream did not come to the end (timeout): 30 s are over",
        "find out why the run ended",
    ),
    Case(
        "callback",
        UPDATES,
        silent,
        Obstacle.CALLBACK_NEVER_CAME,
        "your adapter never called on_usage_update in the scenario made that would show it",
        "call on_usage_update while the answer arrives",
    ),
    Case(
        "nothing",
        SPLIT,
        lambda view: view,
        Obstacle.NOTHING_SHOWN,
        "there was nothing to compare in made",
        "look at the conversation",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_what_stood_in_the_way_of_a_run_is_told_and_nothing_else(case: Case) -> None:
    verdict = verdict_on(case.requirement, [case.change(plain())], scenario("made"), shows=("made",))
    assert verdict.status is Status.INCONCLUSIVE
    (reason,) = verdict.undecided
    assert reason.kind is case.kind
    assert why_undecided(reason) == case.why
    assert what_to_do(reason).startswith(case.todo)
    assert REGISTRY.message(verdict) == case.why


def test_a_failure_that_the_script_asks_for_stands_in_nobodys_way() -> None:
    view = refused()
    verdict = verdict_on(SPLIT, [View(view.transcript, view.dialect, view.scenario)], scenario("made"), shows=("made",))
    assert [reason.kind for reason in verdict.undecided if reason.kind is not Obstacle.NOTHING_SHOWN] == []


def test_exceptions_from_one_line_are_told_once_with_all_their_runs() -> None:
    views = [raised(plain()), raised(plain(mode="batch"))]
    (reason,) = verdict_on(SPLIT, views, scenario("made"), shows=("made",)).undecided
    assert reason.runs == ("made/stateless/batch", "made/stateless/stream")


def test_a_scenario_that_was_left_out_is_named_with_the_depth_it_needs() -> None:
    scenarios = (scenario("faults/one"), scenario("faults/two", depth="full"))
    verdict = verdict_on(SPLIT, [plain()], *scenarios, shows=("faults/one", "faults/two"))
    assert verdict.status is Status.INCONCLUSIVE
    quick, full = verdict.undecided
    assert (quick.scenarios, quick.depth) == (("faults/one",), "")
    assert what_to_do(quick) == "run it with --scenario faults/one"
    assert what_to_do(full) == "run it with --scenario faults/two --depth full"


def test_what_no_scenario_within_the_claims_shows_is_not_claimed() -> None:
    scenarios = (scenario("a/a", "tools"), scenario("a/b", "tools"), scenario("a/c", "tools", "images"))
    verdict = verdict_on(SPLIT, [plain()], *scenarios, shows=("a/a", "a/b", "a/c"))
    assert verdict.status is Status.NOT_CLAIMED
    assert [(reason.lacks, reason.scenarios) for reason in verdict.undecided] == [
        (("tools",), ("a/a", "a/b")),
        (("images", "tools"), ("a/c",)),
    ]
    assert (
        verdict.message
        == "the 3 scenarios that show it need what the adapter does not claim: tools, or images and tools"
    )
    assert why_undecided(verdict.undecided[0]) == "the 2 scenarios that show it need tools, which is not claimed"


def test_what_nobody_can_claim_is_not_asked_for() -> None:
    scenarios = (scenario("a/a", "tools"), scenario("a/b", "wire:server-tools"))
    verdict = verdict_on(SPLIT, [plain()], *scenarios, shows=("a/a", "a/b"))
    assert [reason.lacks for reason in verdict.undecided] == [("tools",)]
    verdict = verdict_on(SPLIT, [plain()], scenarios[1], shows=("a/b",))
    assert [reason.lacks for reason in verdict.undecided] == [("wire:server-tools",)]


def test_what_is_shown_in_streams_alone_needs_streaming() -> None:
    claims = Capabilities()
    shown = Shown(frozenset({WIRE}), {"core/a-good-answer-is-returned": {"alone": {"*": ("a/a:stream",)}}})
    subject = Claimed(claims, (), (scenario("a/a"),), "adapter", dialect=WIRE, shown=shown)
    verdict = decide(load_suite().catalogue["core/a-good-answer-is-returned"], "stateless", [], subject)
    assert verdict.status is Status.NOT_CLAIMED
    assert verdict.undecided == (Undecided(kind=Obstacle.CLAIM_MISSING, scenarios=("a/a",), lacks=("streaming",)),)


def test_one_scenario_within_the_claims_is_enough_to_be_asked() -> None:
    scenarios = (scenario("made"), scenario("a/b", "tools"))
    verdict = verdict_on(SPLIT, [plain()], *scenarios, shows=("made", "a/b"))
    assert verdict.status is Status.INCONCLUSIVE
    assert [reason.kind for reason in verdict.undecided] == [Obstacle.NOTHING_SHOWN, Obstacle.CLAIM_MISSING]


def test_without_an_index_every_scenario_that_is_looked_at_counts() -> None:
    subject = Claimed(STREAMS, (), (scenario("made"), scenario("a/b", "tools")), "adapter", dialect=WIRE)
    verdict = decide(load_suite().catalogue[SPLIT], "stateless", [], subject)
    assert verdict.status is Status.NOT_CLAIMED
    assert verdict.undecided == ()


def test_it_survives_being_written_down() -> None:
    verdict: Any = verdict_on(SPLIT, [raised(plain())], scenario("made"), shows=("made",))
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict
