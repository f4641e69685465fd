"""Slow tools: answered once with a handle, and what they return in the end is nobody's second result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, UsageError
from turnproof.messages import InlineData, Text, ToolResult, ToolSchema, same_history
from turnproof.session import Session, Tool, ToolOutput, is_paired
from turnproof.session.background import TASK_RESULT, Tasks
from turnproof.session.batch import MAX_WORKERS
from turnproof.session.tools import ToolBox

from .fakes import PATHS, Watching, call, numbered, open_session, reply, shape, tool

both = pytest.mark.parametrize("path", PATHS)
either_order = pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])

PICTURE = InlineData("image/png", b"\x89PNG")


class Slow:
    """A tool that returns when the test lets it, and a sleep in which its patience is over at once."""

    def __init__(self, returns: Callable[[], Any] = lambda: "late", *, patience: float | None = 10) -> None:
        self.began, self.go_on, self.tokens = threading.Event(), threading.Event(), list[CancelToken]()
        self.naps: list[float] = []
        self._returns = returns
        self.tool = Tool(ToolSchema("slow"), self._run, background_after=patience)

    def _run(self, args: dict[str, Any], token: CancelToken) -> Any:
        self.tokens.append(token)
        self.began.set()
        assert self.go_on.wait(30)
        return self._returns()

    def sleep(self, seconds: float, token: CancelToken) -> bool:
        self.naps.append(seconds)
        assert self.began.wait(30)
        return False

    @contextmanager
    def finishing(self, *tasks: Any) -> Iterator[None]:
        """Lets the tool return, and waits until the tasks know."""
        self.go_on.set()
        for task in tasks:
            assert task.wait(30)
        yield


def asleep(seconds: float, token: CancelToken) -> bool:
    """A sleep in which no time passes: only its token ends it."""
    assert token.wait(30)
    return True


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


def handle(task_id: str, call_id: str = "c1") -> ToolResult:
    return ToolResult(call_id, "slow", {"task_id": task_id, "status": "running"})


@both
def test_a_call_that_takes_too_long_is_answered_with_a_handle_and_the_turn_goes_on(path: str) -> None:
    slow = Slow()
    session, provider = open_session(path, reply(call("slow")), reply("ok"), tools=[slow.tool], sleep=slow.sleep)
    assert session.send("Hi").text == "ok"
    (task,) = session.tasks
    assert slow.naps == [10]
    assert shape(session)[2] == ("tool", (handle(task.id),))
    assert (task.status, task.result, task.call.id) == ("running", None, "c1")
    assert in_step(session, provider)
    with slow.finishing(task):
        assert (task.status, task.result) == ("done", ToolResult("c1", "slow", "late"))
    assert shape(session)[2] == ("tool", (handle(task.id),)), "what comes late is no second result"
    assert len(session.history) == 4
    assert is_paired(session.history.messages)


@both
def test_a_call_that_is_quick_enough_has_its_own_result(path: str) -> None:
    slow = Slow()
    slow.go_on.set()
    session, _ = open_session(path, reply(call("slow")), reply("ok"), tools=[slow.tool], sleep=asleep)
    before = set(threading.enumerate())
    session.send("Hi")
    assert shape(session)[2] == ("tool", (ToolResult("c1", "slow", "late"),))
    assert list(session.tasks) == []
    assert not set(threading.enumerate()) - before, "nobody waits for the patience to end"


def test_a_tool_without_a_limit_is_waited_for_and_nothing_is_offered_for_it() -> None:
    slow = Slow(patience=None)
    slow.go_on.set()
    box = ToolBox([slow.tool], sleep=slow.sleep)
    assert box.run([call("slow")], CancelToken()) == (ToolResult("c1", "slow", "late"),)
    assert (slow.naps, [schema.name for schema in box.schemas]) == ([], ["slow"])


@either_order
def test_other_calls_of_the_response_keep_their_place_and_their_results(parallel: bool) -> None:
    slow, tasks = Slow(), Tasks(numbered())
    box = ToolBox([slow.tool, tool()], parallel=parallel, sleep=slow.sleep, tasks=tasks)
    results = box.run([call(id="a"), call("slow", id="b"), call("slow", id="c"), call(id="d")], CancelToken())
    assert results == (
        ToolResult("a", "look", "seen"),
        handle("m1", "b"),
        handle("m2", "c"),
        ToolResult("d", "look", "seen"),
    )
    assert [task.call.id for task in tasks] == ["b", "c"]
    slow.go_on.set()


def test_tools_in_the_background_take_no_place_from_those_that_wait_for_one() -> None:
    slow, tasks = Slow(), Tasks(numbered())
    box = ToolBox([slow.tool, tool()], sleep=slow.sleep, tasks=tasks)
    many = [call("slow", id=f"s{n}") for n in range(MAX_WORKERS + 3)]
    *handles, last = box.run([*many, call(id="last")], CancelToken())
    assert last == ToolResult("last", "look", "seen")
    assert [one.call_id for one in handles] == [one.id for one in many]
    assert len(tasks) == MAX_WORKERS + 3
    with slow.finishing(*tasks):
        assert {task.status for task in tasks} == {"done"}


def test_each_call_begins_and_ends_once_for_the_observers() -> None:
    slow, events = Slow(), list[Any]()
    session, _ = open_session(
        "stateless",
        reply(call("slow")),
        reply("ok"),
        tools=[slow.tool],
        sleep=slow.sleep,
        observers=[
            Watching(
                on_tool_began=lambda call: events.append(call.id),
                on_tool_ended=lambda call, result: events.append(result.result["status"]),
                on_status=lambda status: events.append(status),
            )
        ],
    )
    session.send("Hi")
    with slow.finishing(*session.tasks):
        assert events == ["running", "c1", "running", "idle"], "the second one is the handle's status"


# Asked for


@both
def test_the_model_can_ask_for_the_result(path: str) -> None:
    slow = Slow(lambda: ToolOutput({"rows": 3}, attachments=(PICTURE,)))
    session, provider = open_session(path, reply(call("slow")), reply("ok"), tools=[slow.tool], sleep=slow.sleep)
    session.send("Hi")
    (task,) = session.tasks
    asking = [reply(call(TASK_RESULT, id=f"t{n}", task_id=task.id)) for n in range(2)]
    provider.script.steps = [asking[0], reply("not yet"), asking[1], reply("there")]
    session.send("And?")
    with slow.finishing(task):
        session.send("And now?")
    first, second = (m.results[0] for m in session.history.messages if m.results and m.results[0].name == TASK_RESULT)
    assert first.result == {"task_id": task.id, "status": "running"}
    assert second == ToolResult(
        "t1", TASK_RESULT, {"task_id": task.id, "status": "done", "result": {"rows": 3}}, attachments=(PICTURE,)
    )
    assert in_step(session, provider)


def test_the_tool_that_asks_is_offered_with_every_tool_that_may_go_on_and_is_no_tool_of_the_caller() -> None:
    slow = Slow()
    session, provider = open_session("stateless", reply("ok"), reply("ok"), tools=[tool(), slow.tool])
    session.send("Hi")
    assert [schema.name for schema in provider.requests[0].tools] == ["look", "slow", TASK_RESULT]
    assert [one.schema.name for one in session.tools] == ["look", "slow"]
    session.set_tools(session.tools[:1])
    session.send("Hi")
    assert [schema.name for schema in provider.requests[1].tools] == ["look"]


@pytest.mark.parametrize("args", [{"task_id": "m9"}, {}], ids=["unknown", "missing"])
def test_a_task_that_nobody_knows_is_an_error_that_the_model_reads(args: dict[str, Any]) -> None:
    (result,) = ToolBox([Slow().tool]).run([call(TASK_RESULT, **args)], CancelToken())
    assert result.is_error
    assert "there is no task" in result.result


@both
def test_a_result_is_announced_as_a_message_of_the_user_only_when_it_is_asked_for(path: str) -> None:
    slow = Slow(lambda: ToolOutput("three rows", attachments=(PICTURE,)))
    session, provider = open_session(
        path, reply(call("slow")), reply("ok"), reply("I see"), tools=[slow.tool], sleep=slow.sleep
    )
    session.send("Hi")
    (task,) = session.tasks
    with pytest.raises(UsageError, match="still running"):
        session.announce(task.id)
    with slow.finishing(task):
        message = session.announce(task.id)
    assert message.parts == (
        Text(f'{{"task_id":"{task.id}","status":"done","result":"three rows"}}'),
        PICTURE,
    )
    assert [m.role for m in session.history.messages] == ["user", "model", "tool", "model", "user"]
    session.send("So?")
    assert is_paired(session.history.messages)
    assert in_step(session, provider)


def test_an_unknown_task_is_refused_by_name() -> None:
    session, _ = open_session("stateless")
    with pytest.raises(UsageError, match="there is no task 'm7' in this session"):
        session.announce("m7")


def fail() -> Any:
    raise OSError("disk full")


def test_a_task_that_fails_says_so() -> None:
    slow, tasks = Slow(fail), Tasks(numbered())
    ToolBox([slow.tool], sleep=slow.sleep, tasks=tasks).run([call("slow")], CancelToken())
    (task,) = tasks
    with slow.finishing(task):
        assert task.report().result == {"task_id": "m1", "status": "failed", "result": "OSError: disk full"}


def test_a_task_can_be_cancelled_and_what_it_returns_then_is_dropped() -> None:
    slow, tasks = Slow(), Tasks(numbered())
    ToolBox([slow.tool], sleep=slow.sleep, tasks=tasks).run([call("slow")], CancelToken())
    (task,) = tasks
    assert not slow.tokens[0].is_cancelled
    task.cancel()
    assert slow.tokens[0].is_cancelled
    assert (task.status, task.wait(0)) == ("cancelled", True)
    task.finish(ToolResult("c1", "slow", "late"))
    assert (task.status, task.result, task.report().result) == (
        "cancelled",
        None,
        {"task_id": "m1", "status": "cancelled"},
    )
    slow.go_on.set()


def test_what_is_over_stays_as_it_ended() -> None:
    slow, tasks = Slow(), Tasks(numbered())
    ToolBox([slow.tool], sleep=slow.sleep, tasks=tasks).run([call("slow")], CancelToken())
    (task,) = tasks
    with slow.finishing(task):
        task.cancel()
        assert (task.status, task.result) == ("done", ToolResult("c1", "slow", "late"))


# Cancelled, failed


@both
def test_a_turn_that_is_cancelled_later_leaves_its_tasks_running(path: str) -> None:
    slow = Slow()

    def cancels(play: Any) -> Any:
        session.stop()
        return reply(finish="cancelled")

    session, provider = open_session(path, reply(call("slow")), cancels, tools=[slow.tool], sleep=slow.sleep)
    assert session.send("Hi").outcome == "cancelled"
    (task,) = session.tasks
    assert (task.status, slow.tokens[0].is_cancelled) == ("running", False)
    assert shape(session)[-1] == ("tool", (handle(task.id),))
    assert in_step(session, provider)
    slow.go_on.set()


@both
def test_a_turn_that_is_taken_back_takes_its_tasks_along(path: str) -> None:
    slow = Slow()
    session, _ = open_session(path, reply(call("slow")), InvalidRequestError("no"), tools=[slow.tool], sleep=slow.sleep)
    with pytest.raises(InvalidRequestError):
        session.send("Hi")
    assert (shape(session), list(session.tasks)) == ([], [])
    assert slow.tokens[0].is_cancelled, "nobody knows its id"
    slow.go_on.set()


@both
@either_order
def test_a_turn_cancelled_while_the_patience_lasts_cancels_the_call(path: str, parallel: bool) -> None:
    slow = Slow()

    def sleep(seconds: float, token: CancelToken) -> bool:
        assert slow.began.wait(30)
        session.stop()
        return asleep(seconds, token)

    session, _ = open_session(path, reply(call("slow")), tools=[slow.tool], sleep=sleep, parallel_tools=parallel)
    assert session.send("Hi").outcome == "cancelled"
    assert slow.tokens[0].wait(30)
    assert shape(session)[-1] == ("tool", (ToolResult("c1", "slow", "cancelled", is_error=True),))
    assert list(session.tasks) == []
    slow.go_on.set()


@pytest.mark.parametrize("patience", [-1.0, float("nan")])
def test_a_patience_that_is_none_is_refused(patience: float) -> None:
    with pytest.raises(UsageError, match="'slow': background_after"):
        ToolBox([Slow(patience=patience).tool])


def test_a_tool_of_the_same_name_as_the_one_that_asks_is_refused() -> None:
    with pytest.raises(UsageError, match=TASK_RESULT):
        ToolBox([Slow().tool, tool(TASK_RESULT)])
