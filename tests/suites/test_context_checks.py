"""Checks of how full a session's context is, and of tool results that do not fit into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message, Thought
from turnproof.run.transcript import Collected, ContextReport, HistorySnapshot, Response, WireRequest
from turnproof.scenarios.model import Scenario
from turnproof.tokens import text_tokens

from .build import RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import READ, THREE, read, result
from .test_history_checks import uncalled, with_history

KNOWN = "accounting/context-is-known"
SHRINKS = "accounting/context-shrinks-with-a-collection"
CUT_TO_FIT = "recovery/results-are-cut-to-fit"
NO_REJECTED_RESULTS = "recovery/rejected-results-are-gone"
HEADROOM = "gc/headroom-is-left"

STORY = "The beds were watered at ten. " * 30
WHOLE = "Bed 2 was watered. " * 40
CUT = WHOLE[:60] + "[640 characters are left out here]" + WHOLE[-60:]


def context_tokens(builder: RunBuilder) -> int:
    """What the conversation takes, by the last report: prompt and answer."""
    responses = [event for event in builder.events if isinstance(event, Response)]
    return responses[-1].response.usage.total_tokens


def accounts(before: tuple[Any, ...] = (), **turn: Any) -> View:
    """Three turns, with an account of the context after each but the last, and after a collection if there is one."""
    last = replace(scripted(["Yes."], user="Sure?"), before=before, **turn)
    builder = RunBuilder(scripted([STORY], user="Tell me."), scripted(["It is."], user="Good?"), last, name="gc/made")
    for question, answer in (("Tell me.", STORY), ("Good?", "It is.")):
        builder.turn(question).call(answer)
        builder.add(ContextReport(tokens=context_tokens(builder), turn=len(builder.history) // 2 - 1)).end()
    if before:
        account = ContextReport(tokens=context_tokens(builder) - text_tokens(STORY))
        builder.operated("gc", Collected(before=(), after=()), account, history=builder.history[2:])
    return uncalled(builder.turn("Sure?").call("Yes.").end().view())


def collected() -> View:
    return accounts(("gc",))


def with_tokens(tokens: int, nth: int = 0) -> Callable[[View], View]:
    return lambda view: spoilt(view, ContextReport, lambda event: replace(event, tokens=tokens), nth)


def off_by(share: float) -> Callable[[View], View]:
    return lambda view: spoilt(view, ContextReport, lambda event: replace(event, tokens=int(event.tokens * share)), 1)


def same_account(view: View) -> View:
    return with_tokens(view.transcript.of(ContextReport)[1].tokens, 2)(view)


def too_long(builder: RunBuilder) -> RunBuilder:
    limit = error("ContextLimitError", status=400)
    return builder.refused(400, limit, "prompt is too long: 300 tokens > 200 maximum")


def overflowed(sent: str = CUT, result_text: str = WHOLE) -> View:
    """A result that is too long for its request, and is cut; a turn after it."""
    script = scripted([read()], [THREE], user="What does the log say?")
    builder = RunBuilder(script, scripted(["Yes."], user="Sure?"), name="gc/made", tools=(READ,))
    builder.turn("What does the log say?").call(read()).results(result(value=result_text))
    too_long(builder).history[-1] = Message.tool(result(value=sent))
    return uncalled(builder.call(THREE).end().turn("Sure?").call("Yes.").end().view())


def days(*overflows: bool) -> View:
    """A tool round for each of these, in which the first request is too long or is not."""
    names = [f"toolu_{n}" for n in range(len(overflows))]
    builder = RunBuilder(
        scripted(*([read(name=name)] for name in names), [THREE], user="All?"), name="gc/made", tools=(READ,)
    )
    builder.turn("All?")
    for name, overflow in zip(names, overflows, strict=True):
        builder.call(read(name=name)).results(result(name, WHOLE))
        if overflow:
            too_long(builder).history[-1] = Message.tool(result(name, CUT))
    return uncalled(builder.call(THREE).end().view())


def some_headroom() -> View:
    return days(True, False, True, False)


def sent(change: Callable[[Any], Any], nth: int = 2) -> Callable[[View], View]:
    """Another body of the `nth` request; the first one of `overflowed` that fits is number 2."""
    return lambda view: spoilt(view, WireRequest, body_with(change), nth)


def without_the_round(body: dict[str, Any]) -> None:
    del body["messages"][1:]


def without_the_result(body: dict[str, Any]) -> None:
    del body["messages"][2:]


def with_the_whole_again(body: dict[str, Any]) -> None:
    body["messages"][2]["content"][0]["content"] = WHOLE


def as_beginning(body: dict[str, Any]) -> None:
    body["messages"][2]["content"][0]["content"] = WHOLE[:100]


def both_held(messages: Sequence[Message]) -> tuple[Message, ...]:
    return (*messages[:2], Message.tool(result(value="another word")), *messages[2:])


def whole_held(messages: Sequence[Message]) -> tuple[Message, ...]:
    return (*messages[:2], Message.tool(result(value=WHOLE)), *messages[3:])


def never_fits(view: View) -> View:
    """Nothing follows the request that was refused."""
    scenario: Scenario = view.scenario
    builder = RunBuilder(*scenario.turns, name="gc/made", tools=(READ,))
    builder.turn("What does the log say?").call(read()).results(result(value=WHOLE))
    return uncalled(too_long(builder).take_back().end("error").view())


CASES = [
    Case(KNOWN, accounts, with_tokens(900), "without its new message; got 900", "off"),
    Case(KNOWN, accounts, with_tokens(0, 1), "turn 1: expected about", "off"),
    Case(KNOWN, collected, with_tokens(900, 2), "turn 2: expected about", "off"),
    Case(SHRINKS, collected, with_tokens(0, 2), "expected more than 0 tokens for 2 messages; got 0", "nothing"),
    Case(SHRINKS, collected, with_tokens(9_000, 2), "got 9000", "grown"),
    Case(SHRINKS, collected, same_account, "after a collection that removed", "not-smaller"),
    Case(CUT_TO_FIT, overflowed, never_fits, "nothing that fits was sent", "not-sent", ""),
    Case(CUT_TO_FIT, overflowed, sent(without_the_round), "the call read_sensor(", "call-missing"),
    Case(
        CUT_TO_FIT,
        overflowed,
        sent(without_the_result),
        '1 as the number of results for the call "toolu_1"; got 0',
        "result-count",
        "/messages/1/content/0",
    ),
    Case(
        CUT_TO_FIT,
        overflowed,
        sent(as_beginning),
        "next to 100 of 760 characters",
        "no-notice",
        "/messages/2/content/0/content",
    ),
    Case(
        NO_REJECTED_RESULTS,
        overflowed,
        with_history(whole_held),
        "history. turn 0: expected",
        "held",
        "/session/2/parts/0",
    ),
    Case(
        NO_REJECTED_RESULTS,
        overflowed,
        with_history(both_held),
        "as many results as calls, 1; got 2",
        "result-count",
        "/session",
    ),
    Case(
        NO_REJECTED_RESULTS,
        overflowed,
        with_history(whole_held, 1),
        "history. turn 1: expected",
        "held",
        "/session/2/parts/0",
    ),
    Case(
        NO_REJECTED_RESULTS,
        overflowed,
        sent(with_the_whole_again, 3),
        "turn 1 (call 3): expected",
        "sent-again",
        "/messages/2/content/0",
    ),
    Case(HEADROOM, some_headroom, lambda view: days(False, True, True, True), "fewer than 3 rounds", "too-little", ""),
]


test_a_kept_requirement_holds_and_a_broken_one_is_named = good_runs_hold(CASES)


# -- what must not be accused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.88, 1.12])
def test_an_account_may_be_off_as_far_as_any_estimate_is(share: float) -> None:
    assert status(KNOWN, off_by(share)(accounts())) is Status.HELD


def test_a_small_conversation_may_be_off_by_more_than_a_share() -> None:
    builder = RunBuilder(scripted(["Yes."], user="Moist?"), scripted(["Yes."], user="Sure?"), name="basics/made")
    builder.turn("Moist?").call("Yes.")
    builder.add(ContextReport(tokens=context_tokens(builder) + 50, turn=0)).end()
    assert status(KNOWN, builder.turn("Sure?").call("Yes.").end().view()) is Status.HELD


@pytest.mark.parametrize(
    "change", [{"system": "Be brief."}, {"tools": ()}], ids=["another system text", "no tools any more"]
)
def test_where_the_settings_change_nothing_is_compared(change: dict[str, Any]) -> None:
    view = with_tokens(9_000, 1)(accounts(**change))
    assert status(KNOWN, view) is Status.HELD


def test_thinking_and_what_was_collected_ahead_of_the_turn_are_not_measured() -> None:
    view = with_tokens(9_000, 1)(accounts())
    thought = with_history(lambda m: (*m[:-1], Message.model(Thought("Hm."))), 1)(view)
    assert status(KNOWN, thought) is Status.HELD
    assert status(KNOWN, sent(lambda body: body["messages"].__delitem__(slice(0, 4)))(view)) is Status.HELD


def test_without_an_account_nothing_is_decided() -> None:
    view = spoilt(collected(), ContextReport, lambda event: None, every=True)
    assert [status(name, view) for name in (KNOWN, SHRINKS)] == [Status.INCONCLUSIVE] * 2


def test_a_collection_that_finds_nothing_may_leave_the_account_as_it_is() -> None:
    everything = collected().transcript.of(HistorySnapshot)[1].messages
    view = with_history(lambda m: everything, 2)(same_account(collected()))
    assert status(SHRINKS, view) is Status.HELD


def test_a_summary_longer_than_what_it_stands_for_may_take_more() -> None:
    story = Message.user(STORY * 3)
    view = with_history(lambda m: (story, *m), 2)(with_tokens(900, 2)(collected()))
    assert status(SHRINKS, view) is Status.HELD


def test_a_result_may_be_replaced_by_a_word_about_it() -> None:
    view = overflowed("The result was too long.")
    assert (status(CUT_TO_FIT, view), status(NO_REJECTED_RESULTS, view)) == (Status.HELD, Status.HELD)


def test_a_result_that_is_no_text_may_be_cut_too() -> None:
    builder = RunBuilder(scripted([read()], [THREE], user="All?"), name="gc/made", tools=(READ,))
    builder.turn("All?").call(read()).results(result(value=[{"bed": n, "note": WHOLE} for n in range(3)]))
    too_long(builder).history[-1] = Message.tool(result(value=CUT))
    view = uncalled(builder.call(THREE).end().view())
    assert (status(CUT_TO_FIT, view), status(NO_REJECTED_RESULTS, view)) == (Status.HELD, Status.HELD)


def test_where_collecting_was_enough_no_result_needs_to_be_cut() -> None:
    assert status(CUT_TO_FIT, overflowed(WHOLE)) is Status.INCONCLUSIVE
    assert status(NO_REJECTED_RESULTS, overflowed(WHOLE)) is Status.INCONCLUSIVE


def test_another_call_may_have_the_same_result() -> None:
    assert status(NO_REJECTED_RESULTS, days(True, False)) is Status.INCONCLUSIVE


def test_a_turn_that_is_to_fail_needs_no_cut_results() -> None:
    view = never_fits(overflowed())
    failing = replace(view.scenario.turns[0], expect="error", error="ContextLimitError")
    scenario = replace(view.scenario, turns=(failing, *view.scenario.turns[1:]))
    assert status(CUT_TO_FIT, View(view.transcript, view.dialect, scenario)) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("overflows", "expected"),
    [
        ((True, True, False, True), Status.HELD),
        ((True, True), Status.INCONCLUSIVE),
        ((False, False, False), Status.INCONCLUSIVE),
        ((True, True, True), Status.VIOLATED),
    ],
)
def test_headroom_is_about_several_overflows_in_a_row(overflows: tuple[bool, ...], expected: Status) -> None:
    assert status(HEADROOM, days(*overflows)) is expected
