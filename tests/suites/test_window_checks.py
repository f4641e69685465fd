"""Checks of sessions that send a window of their conversation: runs of the reference session, each spoilt once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as with_fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import turnproof_suites
from turnproof.dialects import dialect
from turnproof.judge.verdict import Status
from turnproof.judge.view import View, as_claimed
from turnproof.messages import FunctionCall, Message, ToolResult
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import HistorySnapshot, RunKey, WireRequest
from turnproof.scenarios import load
from turnproof.session.binding import windowed
from turnproof.windows import Window
from turnproof_adapters.anthropic.binding import BINDING

from .build import body_with, spoilt
from .cases import Case, good_runs_hold, status

BOUNDED, WHOLE, RUNNING, UNBROKEN = (
    f"history/window-{name}" for name in ("is-bounded", "parts-no-pair", "has-the-running-turn", "is-unbroken")
)
SCENARIO = Path(next(iter(turnproof_suites.__path__))) / "scenarios" / "history" / "window.yaml"

Body = dict[str, Any]


@cache
def run_with(claim: str) -> View:
    """The run of the reference session with a window, without what that leaves out."""
    script = load(SCENARIO)
    binding = with_fields(windowed(claim, BINDING.claims(), adapter=BINDING), name="windowed")
    with Runner(in_process=True, bindings={binding.name: binding}) as runner:
        transcript = runner.run(RunSpec(binding.name, script, RunKey(script.name, "stateless", "batch")))
    return View(transcript, dialect(transcript.dialect), script)


def view_of(claim: str = "4 messages") -> View:
    return judged(run_with(claim), claim)


def judged(view: View, claim: str = "4 messages") -> View:
    return as_claimed(view, given_texts_alone=False, window=Window.of_claim(claim))


def request(number: int, change: Callable[[Body], Any]) -> Callable[[View], View]:
    """Another body in one request."""
    return lambda view: judged(spoilt(view, WireRequest, body_with(change), number))


def roles_of(number: int) -> list[str]:
    """The roles in a request on the wire."""
    window = view_of().exchanges[number].window
    assert window is not None
    return [message.role for message in window.sent]


def everything(body: Body) -> None:
    """What the window left out, on top."""
    body["messages"] = [
        {"role": role, "content": [{"type": "text", "text": text}]}
        for bed in (1, 2, 3)
        for role, text in (
            ("user", f"What grows in bed {bed}?"),
            ("assistant", f"In bed {bed} there are leeks, and {bed} rows of chard."),
        )
    ] + body["messages"][-1:]


def without(*places: int) -> Callable[[Body], None]:
    """The messages but for those in some places."""

    def change(body: Body) -> None:
        left_out = {place % len(body["messages"]) for place in places}
        body["messages"] = [one for n, one in enumerate(body["messages"]) if n not in left_out]

    return change


def without_instructions(body: Body) -> None:
    del body["system"]


def another_text(body: Body) -> None:
    body["messages"][1]["content"] = [{"type": "text", "text": "In bed 2 there are leeks."}]


FOURTH, AFTER_TOOLS, SECOND_ROUND, AFTER_PARALLEL, LAST_ROUND = 3, 5, 6, 10, 18
"""Requests: of the fourth turn, before which six messages were said; of the one after a tool turn, in both rounds;
after a turn with parallel calls; and the fifth of a turn that is longer than the window."""

CASES = [
    Case(BOUNDED, view_of, request(FOURTH, everything), "expected at most 4 messages of what was said", "too-much"),
    Case(WHOLE, view_of, request(AFTER_TOOLS, without(0, 1)), "expected the call", "no-call", "/messages"),
    Case(WHOLE, view_of, request(AFTER_TOOLS, without(2)), "expected a result for the call", "no-result", "/messages"),
    Case(RUNNING, view_of, request(SECOND_ROUND, without(-3)), "got the user's texts [\"How moist", "user-text"),
    Case(RUNNING, view_of, request(SECOND_ROUND, without(-1, -2)), "expected the 1 calls", "calls"),
    Case(RUNNING, view_of, request(FOURTH, without_instructions), "expected the instructions", "system", ""),
    Case(UNBROKEN, view_of, request(FOURTH, without(2, 3)), "expected the last 4 messages", "lost", "/messages"),
    Case(UNBROKEN, view_of, request(FOURTH, another_text), "In bed 2 there are leeks, and 2 rows of chard.", "lost"),
    Case(UNBROKEN, view_of, request(FOURTH, without(0, 1, 2, 3)), "of what was said before the turn", "lost"),
]

test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_a_turn_without_its_beginning_is_no_gap_in_what_was_said_before() -> None:
    """A buffer that counts what the running turn says, too, cuts off its beginning."""

    def cut(body: Body) -> None:
        body["messages"] = body["messages"][-6:]

    view = request(LAST_ROUND, cut)(run_with("4 messages"))
    assert status(RUNNING, view) is Status.VIOLATED
    assert status(UNBROKEN, view) is Status.HELD


@pytest.mark.parametrize("claim", ["1 turn", "2 turns", "4 messages", "8 messages"])
@pytest.mark.parametrize("requirement", [BOUNDED, WHOLE, RUNNING, UNBROKEN])
def test_the_reference_session_holds_them_with_any_window(requirement: str, claim: str) -> None:
    assert status(requirement, view_of(claim)) is Status.HELD


def test_a_conversation_that_is_shorter_than_the_window_shows_nothing() -> None:
    assert status(BOUNDED, judged(run_with("40 messages"), "40 messages")) is Status.INCONCLUSIVE


def test_who_claims_no_window_is_not_asked_for_one() -> None:
    assert status(UNBROKEN, run_with("4 messages")) is Status.INCONCLUSIVE


def test_a_window_may_go_back_to_where_a_turn_began() -> None:
    """Of five messages it sends six where the fifth last is in the middle of a turn."""
    view = judged(run_with("6 messages"), "5 messages")
    assert status(BOUNDED, view) is Status.HELD


def test_a_window_may_be_shorter_where_a_call_and_a_result_count_each() -> None:
    """Two calls and their results are four of the eight messages of a framework that has a message for each."""
    assert status(UNBROKEN, judged(run_with("6 messages"), "8 messages")) is Status.HELD


def begun_between_calls(*, results: slice) -> View:
    """The request after parallel calls, begun with the second of two in one message, and with some of their results."""

    def change(body: Body) -> None:
        (_, calls, answers, *rest) = body["messages"]
        calls["content"], answers["content"] = calls["content"][-1:], answers["content"][results]
        body["messages"] = [calls, answers, *rest]

    return judged(spoilt(run_with("6 messages"), WireRequest, body_with(change), AFTER_PARALLEL), "8 items")


def test_a_window_of_items_may_begin_between_two_calls_of_a_message() -> None:
    view = begun_between_calls(results=slice(1, 2))
    assert view.exchanges[AFTER_PARALLEL].window is not None
    for requirement in (BOUNDED, WHOLE, UNBROKEN, "history/wire-is-what-the-session-holds"):
        assert status(requirement, view) is Status.HELD, requirement


@pytest.mark.parametrize("results", [slice(0, 2), slice(0, 1)])
def test_a_window_of_items_has_the_results_of_its_own_calls_alone(results: slice) -> None:
    assert status(WHOLE, begun_between_calls(results=results)) is Status.VIOLATED


def test_a_place_in_a_message_that_is_whole_again_is_one_in_the_request() -> None:
    window = begun_between_calls(results=slice(1, 2)).exchanges[AFTER_PARALLEL].window
    assert window is not None
    assert window.left_out is not None
    cut = len(window.left_out) - 1
    assert window.path_on_the_wire(("messages", cut - 1)) == ("messages",)
    count = len(window.left_out[-1].parts)
    assert window.path_on_the_wire(("messages", cut, "parts", count)) == ("messages", 0, "parts", 0)
    assert window.path_on_the_wire(("messages", cut, "parts", 0)) == ("messages", 0)
    assert window.path_on_the_wire(("messages", cut + 2)) == ("messages", 2)


# -- what all other checks see -----------------------------------------------------------------------------------------


def test_what_the_window_leaves_out_is_put_back_as_it_was_sent_before() -> None:
    view = view_of()
    last = [one for one in view.exchanges if one.generates][-1]
    assert last.window is not None
    assert last.call is not None
    assert len(last.window.sent) < 6
    user_texts = [message.text for message in last.call.messages if message.role == "user" and message.text]
    assert user_texts == [str(turn.user[0].text) for turn in view.scenario.turns]  # type: ignore[union-attr]


def forgetful(view: View, keep: int) -> View:
    """The run of a session that holds no more than its last messages when a turn is over."""

    def cut(event: HistorySnapshot) -> HistorySnapshot:
        return replace(event, messages=event.messages[-keep:])

    return spoilt(view, HistorySnapshot, cut, every=True)


def test_what_a_session_forgets_is_put_back_into_what_it_holds() -> None:
    whole = view_of()
    found = judged(forgetful(run_with("4 messages"), 6))
    for one, other in zip(whole.transcript.of(HistorySnapshot), found.transcript.of(HistorySnapshot), strict=True):
        assert [message.text for message in other.messages] == [message.text for message in one.messages]
    assert status("history/what-was-said-is-held", found) is Status.HELD


def test_what_it_changes_in_what_is_left_is_not_put_right() -> None:
    def changed(event: HistorySnapshot) -> HistorySnapshot:
        *earlier, last = event.messages[-4:]
        return replace(event, messages=(*earlier, Message(last.role, (), last.message_id)))

    view = judged(spoilt(run_with("4 messages"), HistorySnapshot, changed, 6))
    assert status("history/what-was-said-is-held", view) is Status.VIOLATED


def test_calls_and_results_are_read_from_the_wire() -> None:
    assert roles_of(SECOND_ROUND)[-2:] == ["model", "tool"]
    messages = view_of().exchanges[SECOND_ROUND].window
    assert messages is not None
    assert isinstance(messages.sent[-2].parts[-1], FunctionCall)
    assert isinstance(messages.sent[-1].parts[0], ToolResult)
