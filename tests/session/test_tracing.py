"""Spans of a session as a tree: the same for both paths, whatever becomes of the turn and wherever tools run."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

from turnproof.cancel import CancelToken
from turnproof.errors import ContextLimitError, InvalidRequestError, OverloadedError, RateLimitError
from turnproof.gc import GCConfig, TruncateGC
from turnproof.messages import ToolResult, ToolSchema
from turnproof.session import Approval, RetryPolicy, Session, Tool, TooManyRounds
from turnproof.session import spans as spans_module

from .fakes import PATHS, call, reply, tool
from .traced import TOOLS, Spans, Talk, collected, cut, fails, open_traced, raising, say, stream, twice

both = pytest.mark.parametrize("path", PATHS)


@pytest.fixture
def spans() -> Spans:
    return Spans()


def cancelled_before(session: Session) -> None:
    token = CancelToken()
    token.cancel()
    session.send("Hi", cancel_token=token)


def cancelled_in_back_off(session: Session) -> None:
    session._sleep = lambda seconds, token: session.stop()
    session.send("Hi")


def at_length(session: Session) -> None:
    session.send("Hi", on_chunk=raising(ValueError("the pipe is closed")))


@dataclass(frozen=True)
class Case:
    id: str
    steps: tuple[Any, ...]
    expected: tuple[str, ...]
    talk: Talk = say
    options: Mapping[str, Any] = field(default_factory=dict)


FEW = RetryPolicy(attempts=2, jitter=0)

CASES = [
    Case("one answer", (reply("Hello"),), ("invoke_agent [answer]", "  chat fake-1 [answer]")),
    Case("streamed", (reply("Hel|lo"),), ("invoke_agent [answer]", "  chat fake-1 [answer]"), stream),
    Case(
        "tools side by side",
        (reply(call("look", "c1"), call("fail", "c2"), call("gone", "c3")), reply("Found")),
        (
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
            "  execute_tool look",
            "  execute_tool fail [TimeoutError]",
            "  execute_tool gone [tool_error]",
            "  chat fake-1 [answer]",
        ),
    ),
    Case(
        "tools one after the other",
        (reply(call("look", "c1"), call("look", "c2")), reply("Found")),
        (
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
            "  execute_tool look",
            "  execute_tool look",
            "  chat fake-1 [answer]",
        ),
        options={"parallel_tools": False},
    ),
    Case(
        "allowed and refused",
        (reply(call("look", "c1"), call("fail", "c2")), reply("Found")),
        (
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
            "  execute_tool look",
            "    permission",
            "  execute_tool fail [tool_error]",
            "    permission",
            "  chat fake-1 [answer]",
        ),
        options={"approve": lambda call, token: Approval(call.name == "look", "not today")},
    ),
    Case(
        "two retries",
        (OverloadedError("busy", status=529), RateLimitError("slow down", retry_after=7.0), reply("Hello")),
        ("invoke_agent [answer]", "  chat fake-1 [answer]", "    retry", "    retry"),
    ),
    Case(
        "retries in vain",
        (OverloadedError("busy"), OverloadedError("still busy")),
        ("invoke_agent [OverloadedError]", "  chat fake-1 [OverloadedError]", "    retry"),
        fails(OverloadedError),
        {"retry": FEW},
    ),
    Case(
        "refused",
        (InvalidRequestError("no", status=400),),
        ("invoke_agent [InvalidRequestError]", "  chat fake-1 [InvalidRequestError]"),
        fails(InvalidRequestError),
    ),
    Case(
        "a callback that raises",
        (reply("Hel|lo"),),
        ("invoke_agent [ValueError]", "  chat fake-1 [ValueError]"),
        fails(ValueError, at_length),
    ),
    Case(
        "no end",
        (reply(call()),),
        ("invoke_agent [TooManyRounds]", "  chat fake-1 [answer]", "  execute_tool look"),
        fails(TooManyRounds),
        {"max_rounds": 1},
    ),
    Case(
        "too long",
        (reply("one"), ContextLimitError("too long", limit=100, requested=120), reply("two")),
        (
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
            "invoke_agent [answer]",
            "  chat fake-1 [ContextLimitError]",
            "  collect",
            "  chat fake-1 [answer]",
        ),
        twice,
        {"gc": TruncateGC(), "gc_config": GCConfig(keep_turns=1)},
    ),
    Case(
        "collected by hand",
        (reply("one"), reply("two"), reply("three")),
        (
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
            "collect",
            "invoke_agent [answer]",
            "  chat fake-1 [answer]",
        ),
        collected,
    ),
    Case("cancelled before the start", (), ("invoke_agent [cancelled]",), cancelled_before),
    Case("cancelled in an answer", (cut,), ("invoke_agent [cancelled]", "  chat fake-1 [cancelled]"), stream),
    Case(
        "cancelled in back-off",
        (OverloadedError("busy"),),
        ("invoke_agent [cancelled]", "  chat fake-1 [cancelled]", "    retry"),
        cancelled_in_back_off,
    ),
    Case(
        "cancelled in a tool",
        (reply(call("stop")),),
        ("invoke_agent [cancelled]", "  chat fake-1 [answer]", "  execute_tool stop [cancelled]"),
    ),
    Case(
        "cancelled between two tools",
        (reply(call("stop", "c1"), call("look", "c2")),),
        (
            "invoke_agent [cancelled]",
            "  chat fake-1 [answer]",
            "  execute_tool stop [cancelled]",
            "  execute_tool look [cancelled]",
        ),
        options={"parallel_tools": False},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_both_paths_give_the_same_span_tree(case: Case) -> None:
    trees = {}
    for path in PATHS:
        spans = Spans()
        session = open_traced(spans, path, *case.steps, tools=TOOLS, **case.options)
        case.talk(session)
        assert spans.outline() == list(case.expected)
        trees[path] = spans.trees(without=("turnproof.path",))
    assert trees["stateless"] == trees["legacy"]


@both
def test_the_path_is_on_the_turn(path: str, spans: Spans) -> None:
    say(open_traced(spans, path, reply("Hello")))
    assert (spans.named("invoke_agent").attributes or {})["turnproof.path"] == path


@both
@pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])
def test_spans_of_a_tools_own_nest_below_its_call(path: str, parallel: bool, spans: Spans) -> None:
    def run(args: dict[str, Any], token: CancelToken) -> str:
        with spans.tracer.start_as_current_span(f"sensor {args['bed']}"):
            return "41 %"

    calls = call("look", "c1", bed=3), call("look", "c2", bed=4)
    say(open_traced(spans, path, reply(*calls), reply("So"), tools=[tool("look", run)], parallel_tools=parallel))
    assert spans.outline() == [
        "invoke_agent [answer]",
        "  chat fake-1 [answer]",
        "  execute_tool look",
        "    sensor 3",
        "  execute_tool look",
        "    sensor 4",
        "  chat fake-1 [answer]",
    ]


@both
def test_a_subagents_turn_is_a_child_of_the_call_that_spawned_it(path: str, spans: Spans) -> None:
    def ask(args: dict[str, Any], token: CancelToken) -> str:
        child = open_traced(spans, path, reply("Dry"), tracing=spans.tracing(agent="scout"))
        return child.send("How is bed 3?").text

    say(open_traced(spans, path, reply(call("ask")), reply("It is dry"), tools=[tool("ask", ask)]))
    assert spans.outline() == [
        "invoke_agent [answer]",
        "  chat fake-1 [answer]",
        "  execute_tool ask",
        "    invoke_agent scout [answer]",
        "      chat fake-1 [answer]",
        "  chat fake-1 [answer]",
    ]
    assert len({span.context.trace_id for span in spans.finished}) == 1


def test_a_call_that_goes_on_in_the_background_ends_with_its_handle(spans: Spans) -> None:
    began, go_on = threading.Event(), threading.Event()

    def run(args: dict[str, Any], token: CancelToken) -> str:
        began.set()
        assert go_on.wait(30)
        return "late"

    def patience(seconds: float, token: CancelToken) -> bool:
        return not began.wait(30)

    slow = Tool(ToolSchema("slow"), run, background_after=1)
    session = open_traced(spans, "stateless", reply(call("slow")), reply("Later"), tools=[slow], sleep=patience)
    say(session)
    ended = spans.named("execute_tool slow")
    go_on.set()
    (task,) = session.tasks
    assert task.wait(30)
    assert spans.named("execute_tool slow") is ended  # and not once more for the late result
    assert ended.status.status_code is StatusCode.UNSET


def test_a_tools_span_ends_when_the_tool_was_done_not_when_its_result_was_taken(
    spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans_module, "time_ns", itertools.count(1).__next__)
    tracer = spans.tracing()
    first, second = tracer.tool(call("look", "c1")), tracer.tool(call("look", "c2"))
    with second:
        pass
    with first:
        pass
    first.end_with(ToolResult("c1", "look", "seen"))
    second.end_with(ToolResult("c2", "look", "seen"))
    ends = {(span.attributes or {})["gen_ai.tool.call.id"]: span.end_time for span in spans.finished}
    assert ends == {"c2": 1, "c1": 2}
