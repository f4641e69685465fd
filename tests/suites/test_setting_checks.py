"""Checks of settings and of what is left open."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import RunEnded, WireRequest

from .build import RunBuilder, body_with, scripted, spoilt
from .cases import Case, decide, suite


def plain(name: str = "basics/plain", options: dict[str, Any] | None = None, **ended: Any) -> View:
    builder = RunBuilder(scripted(["Basil."]), name=name, options=options)
    return builder.turn("What grows here?").call("Basil.").end().view(**ended)


def limited() -> View:
    view: View = sent(max_tokens=777)(plain("basics/unicode_borders", {"max_tokens": 777}))
    return view


def closed() -> View:
    return plain(connections_left=0)


def sent(**settings: Any) -> Any:
    return lambda view: spoilt(view, WireRequest, body_with(lambda body: body.update(settings)))


def left_open(view: View) -> View:
    return spoilt(view, RunEnded, lambda event: replace(event, connections_left=2))


UNASKED, LIMIT = "core/no-setting-goes-out-unasked", "core/limit-of-output-goes-out"
CASES = [
    Case(UNASKED, plain, sent(temperature=0.7), "`temperature`", "set", "/temperature"),
    Case(UNASKED, plain, sent(stop_sequences=["###"]), "`stop_sequences`", "set", "/stop_sequences"),
    Case(UNASKED, plain, sent(tool_choice={"type": "any"}), "any", "set", "/tool_choice"),
    Case(
        UNASKED,
        plain,
        sent(tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        "auto",
        "set",
        "/tool_choice",
    ),
    Case(LIMIT, limited, sent(max_tokens=4096), "a limit of 777 tokens; got max_tokens 4096", "missing"),
    Case("core/no-connection-is-left-open", closed, left_open, "2 open connections", "open", "/0/connections_left"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}/{case.message}")
def test_a_broken_run_is_violated_and_the_good_one_is_held(case: Case) -> None:
    decide(case)


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 1},
        {"temperature": 1.0, "top_p": 0.95},
        {"tool_choice": {"type": "auto"}},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
        {"metadata": {}},
    ],
)
def test_a_default_spelled_out_changes_nothing(settings: dict[str, Any]) -> None:
    view = sent(**settings)(plain())
    assert judge(suite().catalogue[UNASKED], "stateless", [view]).status is Status.HELD


def test_a_limit_that_nobody_set_and_one_beside_thinking_are_not_judged() -> None:
    thinking = plain("basics/unicode_borders", {"max_tokens": 777, "thinking": {"budget_tokens": 1024}})
    for view in (plain("basics/unicode_borders"), thinking):
        assert judge(suite().catalogue[LIMIT], "stateless", [view]).status is Status.INCONCLUSIVE


def test_where_nobody_looked_at_connections_nothing_is_said_of_them() -> None:
    verdict = judge(suite().catalogue["core/no-connection-is-left-open"], "stateless", [plain()])
    assert verdict.status is Status.INCONCLUSIVE
