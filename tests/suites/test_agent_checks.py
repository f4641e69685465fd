"""Checks of an agent's turns, and of what it leaves behind: a run as it should be, and with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message, TokenUsage
from turnproof.run.transcript import (
    Failed,
    Killed,
    LeftBehind,
    SaidBeside,
    ToolRun,
    TurnEnded,
    UsageReport,
    WireRequest,
    WireResponse,
)
from turnproof.scenarios.model import ToolScript

from .build import spoilt
from .cases import Case, decide, good_runs_hold
from .stored_runs import (
    Change,
    after,
    asked_again,
    body,
    ended,
    event,
    inserted,
    killed,
    of_all,
    sent,
    status,
    view_of,
    with_history,
    with_processes,
)


def case(
    name: str,
    good: str | Callable[[], View],
    bad: Change,
    message: str = "",
    code: str = "",
    pointer: str | None = None,
) -> Case:
    return Case(
        f"sessions/{name}", partial(view_of, good) if isinstance(good, str) else good, bad, message, code, pointer
    )


def runs_again(view: View) -> View:
    """A tool runs twice."""
    run = next(one for one in view.transcript.of(ToolRun) if one.turn == 1)
    return inserted(ToolRun, 1, run)(view)


def with_what_came_before(view: View) -> View:
    """The figures of the second turn, with those of the first."""
    first, second = (one.usage for one in view.transcript.of(UsageReport)[:2])
    prompt, output = first.prompt_tokens + second.prompt_tokens, first.output_tokens + second.output_tokens
    return event(UsageReport, 1, usage=TokenUsage(prompt, output, prompt + output))(view)


def never_raised(view: View) -> View:
    """A failed turn comes to an end without an error."""
    return spoilt(view, Failed, lambda one: None)


def untyped(turn: int) -> Change:
    return event(Failed, turn, error="BrokenPipeError", typed=False)


CUT = ToolRun(name="cut_hedge", call_id="", args={"hedge": "old"}, outcome="ok")
FAILED = {"outcome": "error", "text": "", "shown": ""}
BLUE = "The blue one has fourteen kilograms."
FRIDAY = "I have noted Friday."
PARTIAL = "We need forty pots "

CASES = [
    case(
        "calls-run-once",
        "resumed",
        runs_again,
        'got another run, {"args": {"bed": "3"}, "name": "read_sensor"}',
        "not-called",
        "/3",
    ),
    case(
        "results-reach-the-model",
        "resumed",
        sent(1, "41 % at noon", "done", nth=1),
        'got results with the texts ["done"]',
        "missing",
        "/messages",
    ),
    case(
        "denied-tools-do-not-run",
        "denied",
        inserted(TurnEnded, 0, CUT),
        'got a run of "cut_hedge" with the arguments {"hedge": "old"}',
        "ran",
        "/1",
    ),
    case(
        "one-turn-at-a-time",
        "at_once",
        event(SaidBeside, 1, outcome="answer", text=BLUE),
        'got "The blue one has fourteen kilograms."',
        "second-wrong-answer",
        "/1/text",
    ),
    case(
        "cancelled-turn-serves-the-next",
        "cancelled",
        ended(2, text="the herb bed to the east."),
        'got "the herb bed to the east."',
        "wrong-answer",
        "/1/text",
    ),
    case(
        "cancel-ends-the-request",
        "cancelled",
        event(WireResponse, 1, released="limit"),
        "got one that was open until the server gave up",
        "went-on",
        "",
    ),
    case(
        "failed-turn-serves-the-next",
        "failed",
        ended(2, **FAILED),
        'expected the outcome "answer";',
        "no-answer",
        "/1/outcome",
    ),
    case(
        "failure-is-no-answer",
        "failed",
        ended(1, outcome="answer", text="API Error: 400"),
        'got none, and the outcome "answer" with the text "API Error: 400"',
        "no-error",
        "/1/outcome",
    ),
    case(
        "retried-answer-is-shown-once",
        asked_again,
        ended(0, text="Bed 7 has leeks Bed 7 has leeks and chard."),
        'got "Bed 7 has leeks Bed 7 has leeks and chard."',
        "wrong-text",
        "/1/text",
    ),
    case(
        "killed-agent-ends-the-turn",
        killed,
        ended(1, outcome="answer", text=PARTIAL),
        'got none, and the outcome "answer" with the text "We need forty pots "',
        "no-error",
        "/2/outcome",
    ),
    case(
        "earlier-turns-survive-a-kill",
        killed,
        sent(2, FRIDAY, "Good day."),
        'expected "I have noted Friday." among the messages, in the order of',
        "text-missing",
        "/messages",
    ),
    case(
        "loss-is-not-hidden",
        killed,
        sent(2, PARTIAL, "No response requested."),
        'expected "We need forty pots " among the messages;',
        "missing",
        "/messages",
    ),
    case(
        "no-process-is-left",
        with_processes,
        of_all(LeftBehind, processes=("sleep", "node", "sleep"), started=4),
        'got "sleep" still running',
        "running",
        "/0/processes/0",
    ),
    case(
        "working-folder-stays-as-it-is",
        "resumed",
        of_all(LeftBehind, files=("project/.mcp.json",)),
        'got the file "project/.mcp.json"',
        "file-left",
        "/0/files/0",
    ),
    case(
        "key-is-in-no-command-line",
        with_processes,
        of_all(LeftBehind, exposed=("node",), started=1),
        'got the key in that of "node"',
        "exposed",
        "/0/exposed/0",
    ),
    case(
        "usage-is-of-the-turn",
        "resumed",
        with_what_came_before,
        'got {"output_tokens": 34, "prompt_tokens": 306}',
        "wrong-figures",
        "/3/usage",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def other_arguments(view: View) -> View:
    return event(ToolRun, 1, args={"bed": "4"})(view)


def unasked(view: View) -> View:
    """The turn after the cancelled one has its reply, and nothing went over the wire for it."""
    quiet = (one for one in view.transcript.events if one.turn != 2 or not isinstance(one, WireRequest | WireResponse))
    return View(replace(view.transcript, events=tuple(quiet)), view.dialect, view.scenario)


@pytest.mark.parametrize(
    ("name", "good", "bad", "code"),
    [
        ("calls-run-once", "resumed", other_arguments, "arguments-changed"),
        ("calls-run-once", "resumed", lambda view: spoilt(view, ToolRun, lambda one: None), "not-run"),
        ("denied-tools-do-not-run", "denied", ended(0, **FAILED), "no-answer"),
        ("one-turn-at-a-time", "at_once", ended(1, **FAILED), "no-answer"),
        ("one-turn-at-a-time", "at_once", event(SaidBeside, 1, outcome="open"), "second-never-ended"),
        ("one-turn-at-a-time", "at_once", event(SaidBeside, 1, error="KeyError", typed=False), "unknown-error"),
        ("one-turn-at-a-time", "at_once", ended(1, text="Yes, I am here."), "wrong-answer"),
        ("cancelled-turn-serves-the-next", "cancelled", ended(2, **FAILED), "no-answer"),
        (
            "cancelled-turn-serves-the-next",
            "cancelled",
            sent(2, "Rose bed, herb bed, bean bed.", "Beds."),
            "text-missing",
        ),
        ("cancelled-turn-serves-the-next", "cancelled", ended(3, text="It lies to the west."), "wrong-answer"),
        ("cancelled-turn-serves-the-next", "cancelled", unasked, "model-not-asked"),
        ("failed-turn-serves-the-next", "failed", ended(2, text="Something else."), "wrong-answer"),
        ("cancel-ends-the-request", "cancelled", ended(1, outcome="answer"), "wrong-outcome"),
        (
            "failed-turn-serves-the-next",
            "failed",
            body(2, lambda found: found.update(messages=found["messages"][-1:])),
            "text-missing",
        ),
        ("failure-is-no-answer", "failed", never_raised, "no-error"),
        ("failure-is-no-answer", "failed", untyped(1), "unknown-error"),
        ("killed-agent-ends-the-turn", killed, untyped(1), "unknown-error"),
        ("killed-agent-ends-the-turn", killed, never_raised, "no-error"),
        ("earlier-turns-survive-a-kill", killed, sent(3, FRIDAY, "Good day."), "text-missing"),
        ("earlier-turns-survive-a-kill", killed, ended(2, **FAILED), "no-answer"),
    ],
)
def test_each_other_way_to_get_it_wrong_is_found(
    name: str, good: str | Callable[[], View], bad: Change, code: str
) -> None:
    decide(case(name, good, bad, code=code))


# -- what must not be accused ----------------------------------------------------------------------------------------


def test_an_agent_without_processes_cannot_be_killed() -> None:
    view = of_all(Killed, processes=0)(killed())
    for name in ("killed-agent-ends-the-turn", "earlier-turns-survive-a-kill", "loss-is-not-hidden"):
        assert status(name, view) is Status.INCONCLUSIVE
    for name in ("no-process-is-left", "key-is-in-no-command-line"):
        assert status(name, view_of("resumed")) is Status.INCONCLUSIVE


def test_what_is_in_no_history_may_be_in_no_request() -> None:
    """The program has stored nothing of the answer that it could not end, and its history does not say so either."""

    def without(messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return tuple(one for one in messages if one.text != PARTIAL)

    view = after(killed(), with_history(1, without), sent(2, PARTIAL, "No response requested."))
    assert status("loss-is-not-hidden", view) is Status.HELD


def test_an_agent_whose_turn_fails_with_the_stream_has_asked_for_no_other_answer() -> None:
    assert status("retried-answer-is-shown-once", view_of("broken_off")) is Status.INCONCLUSIVE


def test_a_reply_may_be_the_last_answer_or_all_of_them() -> None:
    whole = "Bed 7 has leeks and chard."
    assert status("retried-answer-is-shown-once", ended(0, text=whole)(asked_again())) is Status.HELD
    assert status("retried-answer-is-shown-once", ended(0, text="leeks and chard.")(asked_again())) is Status.VIOLATED


RESULT_TEXT = """41 % of "noon",\nand it's rising"""


@pytest.mark.parametrize(
    "as_sent",
    [
        RESULT_TEXT,
        [{"type": "text", "text": RESULT_TEXT}],
        [{"type": "text", "text": "Moisture:"}, {"type": "text", "text": RESULT_TEXT}],
    ],
    ids=["plain", "in-a-block", "in-one-of-two"],
)
def test_a_result_is_found_whatever_its_characters_and_however_it_is_wrapped(as_sent: Any) -> None:
    def change(found: Any) -> None:
        found["messages"][-1]["content"][0]["content"] = as_sent

    view = body(1, change, nth=1)(view_of("resumed"))
    script = view.scenario
    turns = [replace(turn, results={"read_sensor": ToolScript(RESULT_TEXT)}) for turn in script.turns]
    known = View(view.transcript, view.dialect, replace(script, turns=tuple(turns)))
    assert status("results-reach-the-model", known) is Status.HELD
    assert status("results-reach-the-model", sent(1, "rising", "falling", nth=1)(known)) is Status.VIOLATED
