"""Running tools: what a model gets to read for whatever a tool does, in which order, and what a cancel leaves."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.messages import FileRef, InlineData, ToolResult
from turnproof.session import Tool, ToolOutput
from turnproof.session.batch import MAX_WORKERS
from turnproof.session.observer import Observers
from turnproof.session.tools import ToolBox

from .fakes import Watching, call, tool

PICTURE = InlineData("image/png", b"\x89PNG")
PDF = FileRef("application/pdf", "gs://b/f.pdf")


@dataclass(frozen=True)
class Case:
    id: str
    returned: Any
    result: Any
    is_error: bool = False
    attachments: tuple[InlineData | FileRef, ...] = ()


CASES = [
    Case("text-stays-itself", "seen", "seen"),
    Case("nothing", None, None),
    Case("number", 3, 3),
    Case("list", [True, "x"], [True, "x"]),
    Case("object", {"a": [1]}, {"a": [1]}),
    Case("ok-tuple", (True, {"a": 1}), {"a": 1}),
    Case("failed-tuple", (False, "gone"), "gone", is_error=True),
    Case("failed-error-object-is-flattened", (False, {"error": "gone"}), "gone", is_error=True),
    Case("failed-richer-object-is-kept", (False, {"error": "gone", "code": 7}), {"error": "gone", "code": 7}, True),
    Case("private-keys-stay-here", {"a": 1, "_trace": "x"}, {"a": 1}),
    Case("private-keys-of-a-failure-too", (False, {"error": "gone", "_trace": "x"}), "gone", is_error=True),
    Case("a-list-of-two-is-a-list", [False, "x"], [False, "x"]),
    Case("a-tuple-without-a-flag-is-a-list", (1, "x"), [1, "x"]),
    Case(
        "files-beside-an-object",
        {"a": 1, "_attachments": [{"mime_type": "image/png", "data": b"\x89PNG"}, PICTURE]},
        {"a": 1},
        attachments=(PICTURE, PICTURE),
    ),
    Case(
        "a-file-by-its-address",
        {"_attachments": [{"mime_type": "application/pdf", "uri": "gs://b/f.pdf", "name": "f"}]},
        {},
        attachments=(FileRef("application/pdf", "gs://b/f.pdf"),),
    ),
    Case(
        "files-of-a-failure",
        (False, {"error": "see", "_attachments": [PICTURE]}),
        "see",
        is_error=True,
        attachments=(PICTURE,),
    ),
    Case(
        "output-with-files-in-both-places",
        ToolOutput({"_attachments": [PICTURE]}, False, (PDF,)),
        {},
        False,
        (PDF, PICTURE),
    ),
    Case("output", ToolOutput("seen", attachments=(PICTURE,)), "seen", attachments=(PICTURE,)),
    Case("error-output", ToolOutput("no", is_error=True), "no", is_error=True),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_what_a_tool_returns_becomes_its_result(case: Case) -> None:
    box = ToolBox([tool(run=lambda args, token: case.returned)])
    expected = ToolResult("c1", "look", case.result, is_error=case.is_error, attachments=case.attachments)
    assert box.run([call()], CancelToken()) == (expected,)


def test_arguments_are_a_plain_copy_that_the_tool_may_change() -> None:
    function_call = call(a={"b": [1]})

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        args["a"]["b"].append(2)
        return args

    (result,) = ToolBox([tool(run=run)]).run([function_call], CancelToken())
    assert result.result == {"a": {"b": [1, 2]}}
    assert function_call.args == {"a": {"b": [1]}}


def raising(error: BaseException) -> Tool:
    def run(args: dict[str, Any], token: CancelToken) -> Any:
        raise error

    return tool(run=run)


@pytest.mark.parametrize(
    ("failing_tool", "text"),
    [
        (raising(ValueError("no such file")), "ValueError: no such file"),
        (raising(SystemExit(3)), "SystemExit: 3"),
        (
            tool(run=lambda args, token: {"when": datetime(2026, 1, 1)}),
            (
                "tool 'look' returned something that cannot be sent: $.result.when: datetime is not a JSON value: "
                "datetime.datetime(2026, 1, 1, 0, 0)"
            ),
        ),
        (
            tool(run=lambda args, token: {"_attachments": [PICTURE, {"mime_type": "image/png", "data": "no bytes"}]}),
            (
                "tool 'look' returned something that cannot be sent: $._attachments[1]: "
                "an attachment has a mime_type, and data in bytes or a uri"
            ),
        ),
        (
            tool(run=lambda args, token: {"_attachments": PICTURE}),
            (
                "tool 'look' returned something that cannot be sent: $._attachments: "
                "attachments are a list, got InlineData"
            ),
        ),
    ],
    ids=["raises", "exits", "not-json", "no-attachment", "no-list-of-attachments"],
)
def test_a_failing_tool_becomes_an_error_result(failing_tool: Tool, text: str) -> None:
    assert ToolBox([failing_tool]).run([call()], CancelToken()) == (ToolResult("c1", "look", text, is_error=True),)


def test_an_unknown_tool_becomes_an_error_result_that_names_the_known_ones() -> None:
    (result,) = ToolBox([tool("b"), tool("a")]).run([call("c")], CancelToken())
    assert result == ToolResult("c1", "c", "there is no tool 'c'; known tools: a, b", is_error=True)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="'look'"):
        ToolBox([tool(), tool()])


def test_parallel_calls_run_at_the_same_time_and_are_answered_in_call_order() -> None:
    together = threading.Barrier(3)

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        together.wait(timeout=30)  # broken, and so an error result, unless all three run at once
        return args["n"]

    results = ToolBox([tool(run=run)]).run([call(id=f"c{n}", n=n) for n in range(3)], CancelToken())
    assert [(result.call_id, result.result, result.is_error) for result in results] == [
        ("c0", 0, False),
        ("c1", 1, False),
        ("c2", 2, False),
    ]


def test_at_most_eight_tools_run_at_once() -> None:
    lock, running, peak = threading.Lock(), 0, 0
    full = threading.Barrier(MAX_WORKERS)

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        full.wait(timeout=30)
        with lock:
            running -= 1
        return "ok"

    results = ToolBox([tool(run=run)]).run([call(id=f"c{n}") for n in range(2 * MAX_WORKERS)], CancelToken())
    assert [result.result for result in results] == ["ok"] * 2 * MAX_WORKERS
    assert peak == MAX_WORKERS


def test_switched_off_calls_run_one_after_the_other() -> None:
    running = threading.Lock()

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        assert running.acquire(blocking=False)
        running.release()
        return "ok"

    box = ToolBox([tool(run=run)], parallel=False)
    assert [result.result for result in box.run([call(id=str(n)) for n in range(20)], CancelToken())] == ["ok"] * 20


@pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])
def test_observers_are_told_of_each_result_in_call_order(parallel: bool) -> None:
    results: list[tuple[str, Any]] = []
    box = ToolBox(
        [tool(run=lambda args, token: args["n"])],
        parallel=parallel,
        observer=Watching(on_tool_ended=lambda call, result: results.append((call.id, result.result))),
    )
    box.run([call(id=f"c{n}", n=n) for n in range(5)], CancelToken())
    assert results == [(f"c{n}", n) for n in range(5)]


def test_an_observer_that_raises_does_no_harm() -> None:
    def on_tool(*_: object) -> None:
        raise RuntimeError("observer")

    watching = Observers([Watching(on_tool_ended=on_tool)])
    (result,) = ToolBox([tool()], observer=watching).run([call()], CancelToken())
    assert result.result == "seen"


def test_a_tool_sees_the_context_variables_of_the_turn() -> None:
    variable: ContextVar[str] = ContextVar("variable")
    variable.set("from the turn")
    (result,) = ToolBox([tool(run=lambda args, token: variable.get())]).run([call()], CancelToken())
    assert result.result == "from the turn"


@pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])
def test_a_cancel_before_any_tool_answers_every_call_and_runs_none(parallel: bool) -> None:
    token = CancelToken()
    token.cancel()

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        raise AssertionError("ran")

    results = ToolBox([tool(run=run)], parallel=parallel).run([call(id="a"), call(id="b")], token)
    assert results == tuple(ToolResult(id, "look", "cancelled", is_error=True) for id in "ab")


def test_a_tool_that_cancels_has_not_finished_itself_whatever_it_returns() -> None:
    token = CancelToken()

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        token.cancel()
        return "done all the same"

    (result,) = ToolBox([tool(run=run)]).run([call()], token)
    assert result == ToolResult("c1", "look", "cancelled", is_error=True)


def test_a_cancel_between_two_tools_keeps_the_first_result_and_does_not_run_the_second() -> None:
    token, numbers = CancelToken(), []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        numbers.append(args["n"])
        return "ok"

    box = ToolBox([tool(run=run)], parallel=False, observer=Watching(on_tool_ended=lambda call, result: token.cancel()))
    first, second = box.run([call(id="a", n=1), call(id="b", n=2)], token)
    assert (first.result, second.result, numbers) == ("ok", "cancelled", [1])


def test_a_cancel_does_not_wait_for_a_tool_that_ignores_the_token() -> None:
    token, started, let_go = CancelToken(), threading.Event(), threading.Event()

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        started.set()
        let_go.wait()
        return "too late"

    def cancel() -> None:
        started.wait()
        token.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        (result,) = ToolBox([tool(run=run)]).run([call()], token)  # would not return before let_go
        assert result == ToolResult("c1", "look", "cancelled", is_error=True)
    finally:
        let_go.set()
        canceller.join()


def test_tools_that_were_waiting_for_a_free_thread_do_not_start_after_a_cancel() -> None:
    token, full, numbers = CancelToken(), threading.Barrier(MAX_WORKERS), []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        numbers.append(args["n"])
        full.wait(timeout=30)
        token.cancel()

    before = set(threading.enumerate())
    ToolBox([tool(run=run)]).run([call(id=f"c{n}", n=n) for n in range(2 * MAX_WORKERS)], token)
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=30)
    assert sorted(numbers) == list(range(MAX_WORKERS))


def test_a_token_does_not_keep_batches_that_are_over() -> None:
    token = CancelToken()
    ToolBox([tool()]).run([call()], token)
    assert not token._callbacks


def test_threads_are_gone_when_all_results_are_in() -> None:
    before = set(threading.enumerate())
    ToolBox([tool()]).run([call(id=str(n)) for n in range(4)], CancelToken())
    assert not set(threading.enumerate()) - before
