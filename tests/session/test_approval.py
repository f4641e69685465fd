"""A tool that needs somebody's yes: what the model reads after a no, and what a session is like while it waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, UsageError
from turnproof.messages import FunctionCall, Text, ToolResult, same_history
from turnproof.session import Approval, Session, is_paired
from turnproof.session.tools import ToolBox

from .fakes import PATHS, FakeStateless, Watching, call, open_session, reply, shape, tool

both = pytest.mark.parametrize("path", PATHS)
either_order = pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])

YES = Approval(True)


def never_run(args: dict[str, Any], token: CancelToken) -> Any:
    raise AssertionError("ran")


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


@both
@pytest.mark.parametrize(
    ("reason", "text"),
    [("not on Sundays", "permission denied: not on Sundays"), ("", "permission denied")],
    ids=["with-reason", "without"],
)
def test_a_denied_call_is_answered_with_the_reason_and_the_turn_goes_on(path: str, reason: str, text: str) -> None:
    session, provider = open_session(
        path,
        reply(call()),
        reply("then not"),
        tools=[tool(run=never_run)],
        approve=lambda call, token: Approval(False, reason),
    )
    assert session.send("Hi").text == "then not"
    assert shape(session)[2] == ("tool", (ToolResult("c1", "look", text, is_error=True),))
    assert in_step(session, provider)


@either_order
def test_a_denial_concerns_its_own_call_alone(parallel: bool) -> None:
    box = ToolBox(
        [tool(run=lambda args, token: args["n"])],
        parallel=parallel,
        approve=lambda call, token: Approval(call.args["n"] != 1, "odd"),
    )
    results = box.run([call(id=f"c{n}", n=n) for n in range(3)], CancelToken())
    assert [(r.call_id, r.result) for r in results] == [("c0", 0), ("c1", "permission denied: odd"), ("c2", 2)]


def test_what_is_allowed_runs_while_the_next_question_is_still_open() -> None:
    first_ran = threading.Event()
    ids: list[str] = []

    def approve(one: FunctionCall, token: CancelToken) -> Approval:
        ids.append(one.id)
        if one.id == "b":
            assert first_ran.wait(30), "the first tool waits for the second question"
        return YES

    def run(args: dict[str, Any], token: CancelToken) -> str:
        first_ran.set()
        return "ok"

    box = ToolBox([tool(run=run)], approve=approve)
    results = box.run([call(id="a"), call(id="b"), call(id="c")], CancelToken())
    assert [result.result for result in results] == ["ok"] * 3
    assert ids == ["a", "b", "c"], "one question at a time, in call order"


@pytest.mark.parametrize(
    ("approve", "text"),
    [
        (lambda call, token: 1 / 0, "permission denied: nobody could be asked: ZeroDivisionError: division by zero"),
        (
            lambda call, token: True,
            "permission denied: nobody could be asked: TypeError: approve() returned bool instead of an Approval",
        ),
    ],
    ids=["raises", "no-approval"],
)
def test_where_the_question_fails_the_answer_is_no(
    approve: Callable[..., Any], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        (result,) = ToolBox([tool(run=never_run)], approve=approve).run([call()], CancelToken())
    assert result == ToolResult("c1", "look", text, is_error=True)
    assert "'look'" in caplog.text


def test_nobody_is_asked_about_a_tool_that_does_not_exist() -> None:
    calls: list[FunctionCall] = []

    def approve(one: FunctionCall, token: CancelToken) -> Approval:
        calls.append(one)
        return YES

    (unknown,) = ToolBox([tool()], approve=approve).run([call("other")], CancelToken())
    assert "no tool 'other'" in unknown.result
    assert calls == []


@either_order
def test_a_tool_that_was_allowed_sees_the_context_of_the_turn(parallel: bool) -> None:
    from contextvars import ContextVar

    variable: ContextVar[str] = ContextVar("variable")
    variable.set("from the turn")
    box = ToolBox([tool(run=lambda args, token: variable.get())], parallel=parallel, approve=lambda call, token: YES)
    assert [r.result for r in box.run([call(id="a"), call(id="b")], CancelToken())] == ["from the turn"] * 2


# While it waits


class Question:
    """An `approve` that waits until the test lets it go on."""

    def __init__(self, answer: Approval = YES) -> None:
        self.opened, self.answered = threading.Event(), threading.Event()
        self.tokens: list[CancelToken] = []
        self._answer = answer

    def __call__(self, function_call: FunctionCall, token: CancelToken) -> Approval:
        self.tokens.append(token)
        self.opened.set()
        assert self.answered.wait(30)
        return self._answer


def while_waiting(session: Session, question: Question, action: Callable[[], object]) -> Any:
    """Runs a turn whose tool asks; `action` in this thread while it waits. The turn's result."""
    out: list[Any] = []
    turn = threading.Thread(target=lambda: out.append(session.send("Hi")))
    turn.start()
    assert question.opened.wait(30)
    action()
    turn.join(30)
    assert out, "the turn did not end"
    return out[0]


@both
@either_order
def test_a_turn_cancelled_while_it_waits_is_over_at_once_and_the_late_yes_runs_nothing(
    path: str, parallel: bool
) -> None:
    question = Question()
    session, provider = open_session(
        path,
        reply(call(id="c1"), call(id="c2")),
        reply("fine"),
        tools=[tool(run=never_run)],
        approve=question,
        parallel_tools=parallel,
    )
    result = while_waiting(session, question, session.stop)  # returns though the question is still open
    assert result.outcome == "cancelled"
    assert question.tokens[0].is_cancelled
    cancelled_results = tuple(ToolResult(id, "look", "cancelled", is_error=True) for id in ("c1", "c2"))
    assert shape(session)[1:] == [("model", (call(id="c1"), call(id="c2"))), ("tool", cancelled_results)]
    before = set(threading.enumerate())
    question.answered.set()
    for thread in before - {threading.current_thread()}:
        if thread.name == "turnproof-tool":
            thread.join(30)
    assert len(question.tokens) == 1, "the second question is not asked any more"
    assert session.send("and now?").text == "fine"
    assert is_paired(provider.requests[-1].messages)
    assert in_step(session, provider)


@both
def test_an_approval_that_gives_up_when_it_is_cancelled_is_no_denial(path: str) -> None:
    def approve(function_call: FunctionCall, token: CancelToken) -> Approval:
        session.stop()
        token.raise_if_cancelled()
        raise AssertionError("unreachable")

    session, _ = open_session(path, reply(call()), tools=[tool(run=never_run)], approve=approve)
    assert session.send("Hi").outcome == "cancelled"
    assert shape(session)[-1] == ("tool", (ToolResult("c1", "look", "cancelled", is_error=True),))


def test_an_approval_that_raises_cancelled_by_itself_is_a_no() -> None:
    def approve(function_call: FunctionCall, token: CancelToken) -> Approval:
        raise Cancelled("the window was closed")

    (result,) = ToolBox([tool(run=never_run)], approve=approve).run([call()], CancelToken())
    assert result.result == "permission denied: nobody could be asked: Cancelled: the window was closed"


@both
def test_nothing_of_a_session_can_be_saved_or_changed_while_it_waits(path: str) -> None:
    question = Question()
    session, provider = open_session(path, reply("a"), reply(call()), reply("done"), tools=[tool()], approve=question)
    session.send("before")
    version, seen = session.history.version, list[Any]()

    def try_everything() -> None:
        seen.append([message.role for message in session.history.messages])
        for action in (
            session.save,
            lambda: session.collect(1),
            lambda: session.restore(saved),
            lambda: session.revert_to_turn(0),
            session.clear,
            session.reset,
            lambda: session.inject("ls"),
            lambda: session.set_system("x"),
            lambda: session.set_tools([]),
            lambda: session.swap(FakeStateless(), path="stateless"),
        ):
            with pytest.raises(UsageError, match="a turn of this session is running"):
                action()
            seen.append("refused")
        question.answered.set()

    saved = session.save()
    result = while_waiting(session, question, try_everything)
    assert seen == [["user", "model", "user", "model"], *["refused"] * 10]
    assert result.text == "done"
    assert session.history.version == version + 4
    assert is_paired(session.history.messages)
    assert in_step(session, provider)
    session.save()


@both
def test_each_call_that_began_ends_once_whether_allowed_denied_or_cancelled(path: str) -> None:
    events: list[Any] = []

    def approve(function_call: FunctionCall, token: CancelToken) -> Approval:
        if function_call.id == "c3":
            session.stop()
        return Approval(function_call.id != "c2", "no")

    session, _ = open_session(
        path,
        reply(*(call(id=f"c{n}") for n in range(1, 5))),
        tools=[tool()],
        approve=approve,
        parallel_tools=False,
        observers=[
            Watching(
                on_tool_began=lambda call: events.append(call.id),
                on_tool_ended=lambda call, result: events.append((call.id, result.result)),
            )
        ],
    )
    session.send("Hi")
    assert events == [
        "c1",
        ("c1", "seen"),
        "c2",
        ("c2", "permission denied: no"),
        "c3",
        ("c3", "cancelled"),
        "c4",
        ("c4", "cancelled"),
    ]
    assert shape(session)[0] == ("user", (Text("Hi"),))
