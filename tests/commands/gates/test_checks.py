"""The checks of criteria over hand-made runs: the path taken, both paths, declarations, the project's own tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from suites.build import RunBuilder, body_with, error, scripted, spoilt

from turnproof._base.settings import GateSettings
from turnproof.commands.gates import Criterion, load_phases
from turnproof.commands.gates.checks import decide
from turnproof.commands.gates.decision import Decision
from turnproof.commands.gates.existing_tests import CommandRun
from turnproof.commands.gates.flag import FlagPlan
from turnproof.commands.gates.measurement import Measured
from turnproof.commands.gates.phases import Setting
from turnproof.judge.requirements import load_suite
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, ToolResult
from turnproof.provider import Difference, Path
from turnproof.run.transcript import CallBegan, HistorySnapshot, SessionOpened, WireRequest
from turnproof.scenarios.model import Cut, Turn
from turnproof.session.binding import REFERENCE
from turnproof.subject import Subject
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC

from .words import codes, message, wording

PHASES = load_phases()
SUITE = load_suite()
SUBJECT = Subject("adapter", REFERENCE, ANTHROPIC)
PLAN = FunctionCall("toolu_1", "read_sensor", {"bed": 3})
USAGE_LATE = Difference("stream-usage-late", "the old path reads usage after the stream")


def criterion(id: str) -> Criterion:
    (found,) = PHASES.criteria([id])
    return found


def run(
    path: Path,
    *,
    key: Path | None = None,
    named_path: Path | None = None,
    called: bool = True,
    repeat: int = 0,
    **fields: Any,
) -> View:
    """A turn with a tool on a path. `key` is the path that it should be on, `named_path` the one that the session
    names."""
    builder = RunBuilder(path=key or path, repeat=repeat, **fields)
    builder.add(SessionOpened(path=named_path or path)).turn("Bed 3?").call("Let me see.", PLAN)
    builder.results(ToolResult("toolu_1", "read_sensor", "41 %")).call("It has 41 %.").end()
    if called:
        return spoilt(builder.view(), CallBegan, lambda event: structs.replace(event, path=path), every=True)
    return builder.view()


def measured(
    off: Sequence[View] = (), on: Sequence[View] = (), default: Sequence[View] = (), phase: int = 2, **fields: Any
) -> Measured:
    runs: dict[Setting, Sequence[View]] = {"off": off, "on": on, "default": default}
    flag = FlagPlan.from_settings(GateSettings(), REFERENCE)
    return Measured(**{"subject": SUBJECT, "phase": phase, "flag": flag, "suite": SUITE, "runs": runs, **fields})


def judged(id: str, *arguments: Any, **fields: Any) -> Decision:
    return decide(measured(*arguments, **fields), criterion(id))


# -- the path that is taken ------------------------------------------------------------------------------------------


def test_calls_and_words_for_the_right_path_open_the_criterion() -> None:
    verdict = judged("2/flag-on-is-stateless", on=[run("stateless")])
    assert verdict.status is Status.HELD
    assert verdict.compared == ("calls of the provider", "paths that the session names")


def test_calls_alone_are_enough_and_so_are_words() -> None:
    silent = spoilt(run("stateless"), SessionOpened, lambda event: None)
    assert judged("2/flag-on-is-stateless", on=[silent]).compared == ("calls of the provider",)
    unseen = run("stateless", called=False)
    assert judged("2/flag-on-is-stateless", on=[unseen]).compared == ("paths that the session names",)


def test_the_other_path_is_told_with_the_setting_that_should_have_prevented_it() -> None:
    verdict = judged("2/flag-on-is-stateless", on=[run("legacy", key="stateless")])
    assert verdict.status is Status.VIOLATED
    assert message(verdict) == (
        "with TURNPROOF_SESSION_OWNED_HISTORY=1: made/stateless/stream: "
        "The session calls its provider on the wrong path. turn 0 round 0 (call 0): "
        "expected the stateless path; got calls on the legacy path"
    )
    (reason,) = verdict.reasons
    assert (reason.setting, reason.finding.place.run) == ("on", "made/stateless/stream")
    assert (reason.finding.expected, reason.finding.observed) == ("stateless", "legacy")


def test_words_that_the_calls_contradict_count_for_nothing() -> None:
    verdict = judged("2/flag-on-is-stateless", on=[run("legacy", key="stateless", named_path="stateless")])
    assert codes(verdict) == ["gate/path-taken/calls-contradict-the-name"]
    assert "expected calls on the stateless path, which it names; got calls on the legacy path" in message(verdict)
    unseen = run("legacy", key="stateless", called=False)
    verdict = judged("2/flag-on-is-stateless", on=[unseen])
    assert codes(verdict) == ["gate/path-taken/names-another"]
    assert "expected the stateless path; got the legacy path" in message(verdict)


def test_a_path_that_cannot_be_seen_is_undecided_and_says_how_to_show_it() -> None:
    blind = spoilt(run("stateless", called=False), SessionOpened, lambda event: None)
    verdict = judged("2/flag-on-is-stateless", on=[blind])
    assert verdict.status is Status.INCONCLUSIVE
    assert "give its binding a path" in message(verdict)


@pytest.mark.parametrize(("path", "phase", "flip", "status"), [
    ("legacy", 2, 3, Status.HELD),
    ("stateless", 2, 3, Status.VIOLATED),
    ("legacy", 2, 2, Status.VIOLATED),
    ("stateless", 2, 2, Status.HELD),
])  # fmt: skip
def test_the_default_flips_in_its_phase(path: Path, phase: int, flip: int, status: Status) -> None:
    flag = FlagPlan.from_settings(GateSettings(flip_phase=flip), REFERENCE)
    verdict = judged("2/default-as-planned", default=[run(path)], flag=flag, phase=phase)
    assert verdict.status is status
    if status is Status.VIOLATED:
        side = "from the flip in phase 2" if flip == 2 else "before the flip in phase 3"
        text = message(verdict, phase, flip_phase=flip)
        assert f"TURNPROOF_SESSION_OWNED_HISTORY not set, in phase 2, {side}: " in text


# -- both paths ------------------------------------------------------------------------------------------------------


def test_paths_that_do_the_same_agree() -> None:
    verdict = judged("2/paths-agree", [run("legacy")], [run("stateless")], again=[run("legacy", repeat=1)])
    assert verdict.status is Status.HELD
    assert "conversations" in verdict.compared


def emptied(view: View, system: str | None = None) -> View:
    """The run with the tool's result sent as nothing, and perhaps with another system text."""

    def change(body: Any) -> None:
        body["messages"][2]["content"][0]["content"] = ""
        body["system"] = system or body["system"]

    return spoilt(view, WireRequest, body_with(change), nth=1)


def test_a_result_that_is_lost_on_one_path_is_told_with_place_and_both_sides() -> None:
    verdict = judged("2/paths-agree", [run("legacy")], [emptied(run("stateless"))])
    assert verdict.status is Status.VIOLATED
    assert message(verdict).startswith("made/stateless/stream: ")
    assert "turn 0 round 1 (call 1): expected" in message(verdict)
    assert "$.request.body.messages[2].content[0]" in message(verdict)
    assert "41 %" in message(verdict)
    place = verdict.reasons[0].finding.place
    assert (place.run, place.turn, place.round, place.call) == ("made/stateless/stream", 0, 1, 1)
    assert verdict.reasons[0].finding.related[0].run == "made/legacy/stream"


def test_every_difference_of_a_conversation_is_in_the_detail() -> None:
    verdict = judged("2/paths-agree", [run("legacy")], [emptied(run("stateless"), "You keep bees.")])
    first, second = wording().message(verdict), wording().detail(verdict)
    assert {"You keep bees." in text for text in (first, second)} == {True, False}
    assert {"41 %" in detail for detail in (first, second)} == {True, False}
    assert first.endswith("(and 1 more)")


def with_tools(view: View, *names: str) -> View:
    """The same run, whose first request declares these tools."""

    def change(body: Any) -> None:
        body["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in names]

    return spoilt(view, WireRequest, body_with(change), nth=0)


def test_another_order_of_the_same_tools_closes_nothing() -> None:
    legacy = with_tools(run("legacy"), "read_sensor", "forecast")
    stateless = with_tools(run("stateless"), "forecast", "read_sensor")
    assert "tool-order" in measured([legacy], [stateless]).comparisons[0].names
    assert judged("2/paths-agree", [legacy], [stateless]).status is Status.HELD


def test_a_declared_difference_is_no_violation() -> None:
    found = measured([run("legacy")], [emptied(run("stateless"))])
    (name,) = found.comparisons[0].names
    excused = replace(found, excused=[Difference(name, "it is meant")])
    assert decide(excused, criterion("2/paths-agree")).status is Status.HELD


def test_runs_on_the_wrong_path_are_not_taken_for_agreement() -> None:
    verdict = judged("2/paths-agree", [run("legacy")], [run("legacy", key="stateless")])
    assert verdict.status is Status.INCONCLUSIVE
    assert message(verdict).startswith("made/stateless/stream: A run is not on the path that it should be on. ")


def test_conversations_without_a_tool_do_not_show_a_whole_turn() -> None:
    def plain(path: Path) -> View:
        builder = RunBuilder(path=path).add(SessionOpened(path=path)).turn("Hello?").call("Hi.").end()
        return builder.view()

    verdict = judged("2/paths-agree", [plain("legacy")], [plain("stateless")])
    assert verdict.status is Status.INCONCLUSIVE
    assert "No turn in which a tool was called" in message(verdict)


def test_a_run_that_came_to_no_end_leaves_the_comparison_undecided() -> None:
    hung = structs.replace(run("stateless").transcript.end, how="hung", detail="in turn 0")
    view = run("stateless")
    cut = View(
        structs.replace(view.transcript, events=(*view.transcript.events[:-1], hung)), view.dialect, view.scenario
    )
    verdict = judged("2/paths-agree", [run("legacy")], [cut])
    assert verdict.status is Status.INCONCLUSIVE
    assert "did not come to its end (hung)" in message(verdict)


def test_nothing_compared_is_no_agreement() -> None:
    assert judged("2/paths-agree").status is Status.INCONCLUSIVE


# -- declarations ----------------------------------------------------------------------------------------------------


def test_without_declarations_nothing_is_asked() -> None:
    assert judged("2/declared-differences-occur", [run("legacy")], [run("stateless")]).status is Status.NOT_CLAIMED


def test_a_declaration_that_nothing_shows_closes_the_gate_once_everything_was_run() -> None:
    sides = [run("legacy")], [run("stateless")]
    verdict = judged("2/declared-differences-occur", *sides, declared=[USAGE_LATE], whole=True)
    assert verdict.status is Status.VIOLATED
    assert "stream-usage-late (the old path reads usage after the stream)" in message(verdict)
    verdict = judged("2/declared-differences-occur", *sides, declared=[USAGE_LATE], whole=False)
    assert verdict.status is Status.INCONCLUSIVE
    assert "--depth full" in message(verdict)


def test_runs_on_the_wrong_path_do_not_make_a_declaration_stale() -> None:
    verdict = judged(
        "2/declared-differences-occur",
        [run("legacy")],
        [run("legacy", key="stateless")],
        declared=[USAGE_LATE],
        whole=True,
    )
    assert verdict.status is Status.INCONCLUSIVE


def test_a_declaration_that_occurs_is_held() -> None:
    found = measured([run("legacy")], [emptied(run("stateless"))], whole=True)
    (name,) = found.comparisons[0].names
    verdict = decide(replace(found, declared=[Difference(name, "meant")]), criterion("2/declared-differences-occur"))
    assert (verdict.status, verdict.compared) == (Status.HELD, (name,))


# -- histories and requirements --------------------------------------------------------------------------------------


def test_histories_that_agree_open_the_criterion() -> None:
    assert judged("1/histories-agree", [run("legacy")], phase=1).status is Status.HELD


def test_a_session_that_shows_no_history_of_its_provider_is_told_what_to_add() -> None:
    mute = replace(SUBJECT, session=replace(REFERENCE, name="mute", provider_history=None))
    verdict = judged("1/histories-agree", [run("legacy")], subject=mute)
    assert verdict.status is Status.INCONCLUSIVE
    assert "give its binding a provider_history" in message(verdict)


def build_turn(outcome: str, *turns: Turn, path: Path = "legacy") -> RunBuilder:
    """A turn that the service answers, and that ends like this."""
    return (
        RunBuilder(*(turns or (scripted(["Hi."], user="Hello?"),)), path=path).turn("Hello?").call("Hi.").end(outcome)
    )


def test_turns_that_end_with_what_the_service_answered_open_the_criterion() -> None:
    verdict = judged("1/turns-are-answered", [build_turn("answer").view()], phase=1)
    assert (verdict.status, verdict.compared) == (Status.HELD, ("turns with an answer",))


def test_an_answer_that_does_not_reach_the_user_closes_the_gate() -> None:
    verdict = judged("1/turns-are-answered", [build_turn("error").view()], phase=1)
    assert verdict.status is Status.VIOLATED
    assert message(verdict, 1) == (
        "with TURNPROOF_SESSION_OWNED_HISTORY=0: made/legacy/stream: The service answered every request, and the turn "
        "did not end with an answer. turn 0: expected answer; got error"
    )


def test_a_turn_for_which_nothing_was_sent_closes_the_gate() -> None:
    mute = RunBuilder(scripted(["Hi."], user="Hello?"), path="legacy").turn("Hello?").end("error").view()
    verdict = judged("1/turns-are-answered", [mute], phase=1)
    assert codes(verdict) == ["gate/turns-answered/no-request"]
    assert "No request was sent. turn 0: expected a request, as the user said something; got none" in message(verdict)


def test_how_a_session_gets_over_what_goes_wrong_is_its_own() -> None:
    cancelled = scripted(["Hi."], user="Hello?", cancel=Cut(at="batch"))
    assert judged("1/turns-are-answered", [build_turn("answer", cancelled).view()]).status is Status.INCONCLUSIVE
    refused = RunBuilder(scripted(["Hi."], user="Hello?"), path="legacy").turn("Hello?")
    refused.refused(400, error("InvalidRequestError")).end("error")
    assert judged("1/turns-are-answered", [refused.view()]).status is Status.INCONCLUSIVE


def test_a_run_that_hangs_closes_the_gate() -> None:
    builder = RunBuilder(path="legacy").turn("Hello?")
    verdict = judged("1/turns-come-to-an-end", [builder.view(how="hung")], phase=1)
    assert verdict.status is Status.VIOLATED
    setting = "with TURNPROOF_SESSION_OWNED_HISTORY=0"
    assert message(verdict, 1).startswith(f"core/turns-come-to-an-end: {setting}: made/legacy/stream: ")
    (reason,) = verdict.reasons
    assert reason.finding.requirement == "core/turns-come-to-an-end"
    assert (reason.setting, reason.finding.place.run) == ("off", "made/legacy/stream")


# -- the project's own tests -----------------------------------------------------------------------------------------

PASSED = CommandRun("F=1 pytest", 0, "", 1.0)
FAILED = CommandRun("F=1 pytest", 1, "E   assert 1 == 2\n1 failed", 1.0)


def test_tests_that_nobody_configured_are_not_asked_for() -> None:
    verdict = judged("2/existing-tests-pass")
    assert verdict.status is Status.NOT_CLAIMED
    assert "existing_tests is not configured" in message(verdict)


def test_tests_have_to_pass_either_way() -> None:
    assert judged("2/existing-tests-pass", tests={"off": PASSED, "on": PASSED}).status is Status.HELD
    verdict = judged("2/existing-tests-pass", tests={"off": PASSED, "on": FAILED})
    assert verdict.status is Status.VIOLATED
    assert codes(verdict) == ["gate/existing-tests/failed"]
    assert "expected exit status 0 of `F=1 pytest`; got exit status 1" in message(verdict)
    assert wording().detail(verdict) == FAILED.output
    assert verdict.command == FAILED.command


@pytest.mark.parametrize(
    ("code", "what", "says"),
    [(-15, "killed", "got signal 15"), (None, "too-slow", "within 1.0 s; got none; it was stopped")],
)
def test_tests_that_do_not_come_to_an_end_of_their_own_say_how_they_ended(
    code: int | None, what: str, says: str
) -> None:
    verdict = judged("1/existing-tests-pass", tests={"off": replace(FAILED, code=code)}, phase=1)
    assert codes(verdict) == [f"gate/existing-tests/{what}"]
    assert says in message(verdict)


def test_the_first_phase_asks_for_the_old_behaviour_alone() -> None:
    assert judged("1/existing-tests-pass", tests={"off": PASSED}, phase=1).status is Status.HELD


def test_made_runs_hold_what_the_tests_take_for_granted() -> None:
    assert [event.owner for event in run("legacy").transcript.of(HistorySnapshot)] == ["session", "provider"]
