"""Checks of what a session holds and tells, without a single provider call: the wire and snapshots are enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, TokenUsage
from turnproof.run import transcript as t
from turnproof.scenarios.model import Cut

from .build import DIALECT, RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, good_runs_hold, status, suite
from .conversations import DOTTED, READ, THREE, cancelled, plain, read, result, tools


def uncalled(view: View) -> View:
    """The same run of a session that does not show its provider calls."""
    calls = t.CallBegan | t.Response | t.Chunk | t.FunctionCallDetected | t.UsageUpdate
    events = tuple(event for event in view.transcript.events if not isinstance(event, calls))
    return View(replace(view.transcript, events=events), DIALECT, view.scenario)


def with_history(
    change: Callable[[tuple[Message, ...]], tuple[Message, ...]], nth: int = 0, owner: str = "session"
) -> Callable[[View], View]:
    """A change of what is held in the `nth` snapshot of an owner."""

    def spoil(view: View) -> View:
        snapshots = [event for event in view.transcript.of(t.HistorySnapshot) if event.owner == owner]
        every = view.transcript.of(t.HistorySnapshot)
        return spoilt(
            view,
            t.HistorySnapshot,
            lambda event: replace(event, messages=change(event.messages)),
            every.index(snapshots[nth]),
        )

    return spoil


def renamed(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return (Message(messages[0].role, messages[0].parts, "another"), *messages[1:])


def two_turns() -> View:
    return uncalled(plain())


def with_tools() -> View:
    return uncalled(tools())


def a_cancelled_turn() -> View:
    return uncalled(cancelled())


def a_mended_conversation() -> View:
    """Taken over with an unanswered call, which is answered when the conversation goes on."""
    builder = RunBuilder(scripted([THREE], user="Still there?"), name="history/unanswered", tools=(READ,))
    broken = [Message.user("How is bed 3?"), Message.model(read())]
    builder.operated("adopt", history=broken).history.append(Message.tool(result("toolu_1", "unknown", is_error=True)))
    return uncalled(builder.turn("Still there?").call(THREE).end().view())


def a_failed_turn() -> View:
    builder = RunBuilder(
        scripted([THREE], user="Hi?", expect="error", error="InvalidRequestError"), scripted(["It is."], user="Good?")
    )
    builder.turn("Hi?").refused(400, error("InvalidRequestError", status=400)).take_back()
    builder.add(t.TurnEnded(outcome="error", turn=0)).snapshot()
    return uncalled(builder.turn("Good?").call("It is.").end().view())


def a_stopped_turn() -> View:
    cut = Cut("event", after="text:2", by="stop")
    builder = RunBuilder(scripted([THREE], user="Recite the log.", cancel=cut, expect="cancelled"), name="history/made")
    return uncalled(builder.turn("Recite the log.").call(THREE, cut=5).end("cancelled").view())


def told_usage() -> View:
    builder = RunBuilder(scripted([THREE], user="How is bed 3?"))
    builder.turn("How is bed 3?").call(THREE)
    usage = next(event for event in reversed(builder.events) if isinstance(event, t.Response)).response.usage
    return uncalled(builder.add(t.UsageReport(usage=usage, turn=0)).end().view())


def ended(**fields: object) -> Callable[[View], View]:
    return lambda view: spoilt(view, t.TurnEnded, lambda event: replace(event, **fields))


def released(how: str) -> Callable[[View], View]:
    return lambda view: spoilt(view, t.WireResponse, lambda event: replace(event, released=how))


CASES = [
    Case(
        "history/what-was-said-is-held",
        two_turns,
        with_history(lambda m: m[:-1], 1),
        'turn 1: expected the model\'s texts ["It is."] in the new messages; got []',
        "model-text",
        "/session",
    ),
    Case(
        "history/failed-turn-leaves-nothing",
        a_failed_turn,
        with_history(lambda m: (*m, Message.user("Hi?"))),
        "turn 0: expected nothing; got",
        "left-behind",
        "/session/0",
    ),
    Case(
        "history/shown-text-is-kept",
        a_cancelled_turn,
        with_history(lambda m: m[:1]),
        'expected the text "Bed 3 is ", which the user saw',
        "shown-text-missing",
        "/session",
    ),
    Case(
        "history/cancelled-turn-serves-the-next",
        a_cancelled_turn,
        lambda view: spoilt(view, t.TurnEnded, lambda event: replace(event, outcome="error"), 1),
        'turn 1: expected the outcome "answer" after the cancelled turn 0; got "error"',
        "outcome",
        "/1/outcome",
    ),
    Case(
        "history/calls-and-results-stay-paired",
        with_tools,
        with_history(lambda m: (*m[:2], *m[3:])),
        'a result for the call "toolu_1"',
        "no-result",
        "/session/1/parts/1",
    ),
    Case(
        "history/calls-and-results-stay-paired",
        with_tools,
        with_history(lambda m: (m[0], *m[2:])),
        'the call "toolu_1" of the tool "read_sensor" in front of its result',
        "no-call",
        "/session/1/parts/0",
    ),
    Case(
        "history/wire-is-what-the-session-holds",
        with_tools,
        lambda view: spoilt(view, t.WireRequest, body_with(lambda body: body["messages"][2]["content"].reverse()), 1),
        "expected the order of the history",
        "order",
    ),
    Case(
        "history/broken-conversation-is-mended",
        a_mended_conversation,
        with_history(lambda m: (*m[:2], *m[3:]), 1),
        'a result for the call "toolu_1"',
        "no-result",
        "/session/1/parts/0",
    ),
    Case(
        "history/message-ids-are-kept",
        two_turns,
        with_history(renamed, 1),
        'for the user message "How is bed 3?"; got "another"',
        "changed",
        "/session/0/message_id",
    ),
    Case(
        "history/wire-is-what-the-session-holds",
        two_turns,
        lambda view: spoilt(view, t.WireRequest, body_with(lambda body: body["messages"].__delitem__(1)), 1),
        "The request lacks a text",
        "lost-text",
        "/messages",
    ),
    Case(
        "history/wire-is-what-the-session-holds",
        two_turns,
        lambda view: spoilt(view, t.WireRequest, body_with(lambda body: body.update(system="You water.")), 1),
        'expected "You keep a greenhouse log."; got "You water."',
        "system",
        "/system",
    ),
    Case("core/reply-is-the-answer", two_turns, ended(text="Bed 3"), 'got "Bed 3"', "wrong-text", "/1/text"),
    Case(
        "streaming/user-sees-the-answer-once",
        two_turns,
        ended(shown="Bed 3 is moist." * 2),
        'got "Bed 3 is moist.Bed 3 is moist."',
        "wrong-text",
        "/1/shown",
    ),
    Case(
        "cancellation/stop-ends-the-turn",
        a_stopped_turn,
        ended(outcome="answer"),
        'expected the outcome "cancelled"; got "answer"',
        "wrong-outcome",
        "/2/outcome",
    ),
    Case(
        "accounting/session-gives-the-last-figures",
        told_usage,
        lambda view: spoilt(view, t.UsageReport, lambda event: replace(event, usage=TokenUsage(9, 9, 18))),
        "expected 18 as `prompt_tokens`; got 9",
        "wrong-count",
        "/1/usage/prompt_tokens",
    ),
]


test_a_good_session_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


# -- what must not be missed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "view", "spoil"),
    [
        ("history/what-was-said-is-held", two_turns, with_history(lambda m: (m[0], *m), 0)),
        ("history/what-was-said-is-held", two_turns, with_history(lambda m: (*m[:3], Message.model("It was.")), 1)),
        ("history/what-was-said-is-held", two_turns, with_history(lambda m: m[2:], 1)),
        ("history/what-was-said-is-held", with_tools, with_history(lambda m: (m[0], Message.model("Let me look."),
        m[3]))),
        ("history/shown-text-is-kept", a_cancelled_turn, with_history(lambda m: m[1:])),
        ("history/calls-and-results-stay-paired", with_tools, with_history(lambda m: m[2:])),
        ("history/calls-and-results-stay-paired", with_tools, with_history(lambda m: m[:2])),
        ("history/message-ids-are-kept", two_turns, with_history(lambda m: (m[0], m[0]), 0)),
        ("cancellation/stop-ends-the-turn", a_stopped_turn, released("limit")),
        ("streaming/user-sees-the-answer-once", two_turns, ended(shown="")),
    ],
)  # fmt: skip
def test_each_way_to_get_it_wrong_is_found(name: str, view: Callable[[], View], spoil: Callable[[View], View]) -> None:
    assert status(name, spoil(view())) is Status.VIOLATED


def left_behind(mended: bool) -> View:
    """A turn that was cancelled in its tool, whose call has a result, if at all, only from the next turn on."""
    cut = Cut("tool", index=0)
    builder = RunBuilder(
        scripted([read()], user="How is bed 3?", cancel=cut, expect="cancelled"),
        scripted([THREE], user="Still there?"),
        name="history/made",
        tools=(READ,),
    )
    builder.turn("How is bed 3?").call(read()).add(t.Cancelled(at="tool 0", turn=0)).end("cancelled")
    if mended:
        builder.history.append(Message.tool(result("toolu_1", "unknown", is_error=True)))
    return uncalled(builder.turn("Still there?").call(THREE).end().view())


def test_a_call_of_a_cancelled_turn_may_be_answered_when_the_conversation_goes_on() -> None:
    assert status("history/calls-and-results-stay-paired", left_behind(mended=True)) is Status.HELD
    assert status("history/calls-and-results-stay-paired", left_behind(mended=False)) is Status.VIOLATED


def test_a_request_of_a_tool_round_is_held_against_the_history_up_to_its_results() -> None:
    def unanswered(body: dict[str, list[dict[str, list[object]]]]) -> None:
        del body["messages"][2]["content"][1]

    view = spoilt(with_tools(), t.WireRequest, body_with(unanswered), 1)
    found = Case("history/wire-is-what-the-session-holds", with_tools, lambda view: view).verdict(view)
    assert found.status is Status.VIOLATED
    assert found.findings[0].code == "history/wire-is-what-the-session-holds/lost-result"


def test_a_stop_that_raises_is_found() -> None:
    view = a_stopped_turn()
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, t.Cancelled))
    refused = t.Refused(operation="stop", error="RuntimeError", message="busy", turn=0)
    events = (*view.transcript.events[:at], refused, *view.transcript.events[at:])
    found = View(replace(view.transcript, events=events), DIALECT, view.scenario)
    assert status("cancellation/stop-ends-the-turn", found) is Status.VIOLATED


# -- what must not be accused ----------------------------------------------------------------------------------------


def test_a_reply_with_the_words_before_the_tools_is_the_answer_too() -> None:
    view = spoilt(with_tools(), t.TurnEnded, lambda event: replace(event, text="Let me look. Bed 3 is moist."))
    assert status("core/reply-is-the-answer", view) is Status.HELD


def test_results_may_stand_in_several_messages() -> None:
    def apart(messages: tuple[Message, ...]) -> tuple[Message, ...]:
        at = next(n for n, message in enumerate(messages) if message.role == "tool")
        single = (Message.tool(one) for one in messages[at].results)
        return (*messages[:at], *single, *messages[at + 1 :])

    assert status("history/calls-and-results-stay-paired", with_history(apart)(with_tools())) is Status.HELD


def test_a_session_may_make_room_where_the_prompt_was_too_long() -> None:
    builder = RunBuilder(scripted(["Yes."], user="One?"), scripted(["Yes."], user="Two?"))
    builder.turn("One?").call("Yes.").end()
    builder.turn("Two?").refused(
        400, error("ContextLimitError", status=400), "prompt is too long: 9 tokens > 8 maximum"
    )
    builder.history = builder.history[2:]
    view = uncalled(builder.call("Yes.").end().view())
    for name in ("what-was-said-is-held", "message-ids-are-kept", "wire-is-what-the-session-holds"):
        assert status(f"history/{name}", view) is Status.HELD, name


def test_what_is_kept_of_a_half_done_turn_is_the_sessions_to_say() -> None:
    builder = RunBuilder(scripted([read()], ["Yes."], user="Moist?", expect="error", error="OverloadedError"))
    builder.turn("Moist?").call(read()).results(result()).refused(529, error("OverloadedError", status=529))
    builder.add(t.TurnEnded(outcome="error", turn=0)).snapshot()
    assert status("history/failed-turn-leaves-nothing", uncalled(builder.view())) is Status.INCONCLUSIVE


def test_a_cancelled_turn_in_which_nothing_was_shown_may_be_forgotten() -> None:
    view = spoilt(with_history(lambda m: ())(a_cancelled_turn()), t.TurnEnded, lambda event: replace(event, shown=""))
    assert status("history/shown-text-is-kept", view) is Status.INCONCLUSIVE


def test_other_names_of_tools_on_the_wire_do_not_matter_to_the_history() -> None:
    call = FunctionCall(id="toolu_1", name="bed.water", args={"bed": "3"})
    builder = RunBuilder(scripted([call], ["Done."], user="Water!"), tools=(DOTTED,), names={"bed.water": "bed_water"})
    builder.turn("Water!").call(call).results(result()).call("Done.").end()
    view = uncalled(builder.view())
    assert status("history/what-was-said-is-held", view) is Status.HELD
    assert status("history/wire-is-what-the-session-holds", view) is Status.HELD


def two_answers_with_calls(*order: int, agent: bool) -> View:
    """The model reads beds 3 and 4, then 5 and 6; the history has the four calls in this order."""
    calls = [FunctionCall(id=f"toolu_{n}", name="read_sensor", args={"bed": str(n)}) for n in (3, 4, 5, 6)]
    builder = RunBuilder(scripted(calls[:2], calls[2:], ["Dry."], user="Moist?"), tools=(READ,))
    builder.turn("Moist?").call(*calls[:2]).results(*(result(call.id) for call in calls[:2]))
    builder.call(*calls[2:]).results(*(result(call.id) for call in calls[2:])).call("Dry.")
    ordered_calls = [calls[n] for n in order]
    (first, second) = (place for place, message in enumerate(builder.history) if message.calls)
    builder.history[first], builder.history[second] = (
        Message.model(*ordered_calls[:2]),
        Message.model(*ordered_calls[2:]),
    )
    if agent:
        builder.add(t.SessionInForce(session="first", turn=0))
    return uncalled(builder.end().view())


@pytest.mark.parametrize(
    ("order", "agent", "status_"),
    [
        ((0, 1, 2, 3), True, Status.HELD),
        ((1, 0, 3, 2), True, Status.HELD),
        ((0, 2, 1, 3), True, Status.VIOLATED),
        ((0, 0, 2, 3), True, Status.VIOLATED),
        ((0, 1, 2, 3), False, Status.HELD),
        ((1, 0, 2, 3), False, Status.VIOLATED),
    ],
)
def test_an_agent_may_tell_of_the_calls_of_one_answer_in_the_order_in_which_it_began_them(
    order: tuple[int, ...], agent: bool, status_: Status
) -> None:
    assert status("history/what-was-said-is-held", two_answers_with_calls(*order, agent=agent)) is status_


def test_figures_of_nothing_may_be_passed_over() -> None:
    """Some services end with zeros; how full the context is follows from the figures before."""
    builder = RunBuilder(scripted([THREE], user="How is bed 3?"))
    builder.turn("How is bed 3?").call(THREE, usage={"fresh": 0, "output": 0}).add(
        t.UsageReport(usage=TokenUsage(9, 9, 18), turn=0)
    )
    assert status("accounting/session-gives-the-last-figures", uncalled(builder.end().view())) is Status.INCONCLUSIVE


def test_all_of_this_was_seen_without_a_provider_call() -> None:
    assert not any(view().calls for view in (two_turns, with_tools, a_cancelled_turn, a_failed_turn, a_stopped_turn))


def test_what_is_asked_of_sessions_alone_stands_in_these_profiles() -> None:
    profiles = {one.profile for one in suite().requirements if one.subject == "session"}
    assert profiles == {
        "core",
        "streaming",
        "tools",
        "cancellation",
        "accounting",
        "gc",
        "recovery",
        "persistence",
        "history",
        "subagents",
        "telemetry",
    }
