"""Checks of an agent's turns, and of what it leaves behind: a run as it should be, and with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.messages import Message, TokenUsage
from turnproof.scenarios.model import ToolScript
from turnproof.transcript import (
    Failed,
    Killed,
    LeftBehind,
    SaidBeside,
    ToolRun,
    TurnEnded,
    UsageReport,
    WireResponse,
)
from turnproof.verdict import Status
from turnproof.view import View

from .build import spoilt
from .cases import Case, decide
from .stored_runs import (
    Change,
    after,
    asked_again,
    body,
    ended,
    event,
    held,
    inserted,
    killed,
    of_all,
    ran,
    sent,
    status,
    with_processes,
)


def case(name: str, good: str | Callable[[], View], bad: Change, said: str) -> Case:
    return Case(f"sessions/{name}", partial(ran, good) if isinstance(good, str) else good, bad, said)


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
    case("calls-run-once", "resumed", runs_again, "turn 1: the model made 1 calls, and tools ran 2 times"),
    case(
        "results-reach-the-model",
        "resumed",
        sent(1, "41 % at noon", "done", nth=1),
        "turn 1: the tool returned '41 % at noon', and no result in the request has it",
    ),
    case(
        "denied-tools-do-not-run", "denied", inserted(TurnEnded, 0, CUT), "turn 0: 'cut_hedge' was denied, and it ran"
    ),
    case(
        "one-turn-at-a-time",
        "at_once",
        event(SaidBeside, 1, outcome="answer", text=BLUE),
        f"turn 1: a second turn waited, and was answered {BLUE!r}, not 'Yes, I am here.'",
    ),
    case(
        "cancelled-turn-serves-the-next",
        "cancelled",
        ended(2, text="the herb bed to the east."),
        "turn 2: the model answered ['It lies to the west.'], and the reply is 'the herb bed to the east.'",
    ),
    case(
        "cancel-ends-the-request",
        "cancelled",
        event(WireResponse, 1, released="limit"),
        "turn 1: the turn was cancelled, and the request went on until the server gave up",
    ),
    case(
        "failed-turn-serves-the-next",
        "failed",
        ended(2, **FAILED),
        "turn 2: after turn 1 this one ended with 'error'",
    ),
    case(
        "failure-is-no-answer",
        "failed",
        ended(1, outcome="answer", text="API Error: 400"),
        "turn 1: the service refused, and the turn ended with 'answer', 'API Error: 400'",
    ),
    case(
        "retried-answer-is-shown-once",
        asked_again,
        ended(0, text="Bed 7 has leeks Bed 7 has leeks and chard."),
        "and the reply is 'Bed 7 has leeks Bed 7 has leeks and chard.'",
    ),
    case(
        "killed-agent-ends-the-turn",
        killed,
        ended(1, outcome="answer", text=PARTIAL),
        "turn 1: the agent was killed, and the turn ended with 'answer'",
    ),
    case(
        "earlier-turns-survive-a-kill",
        killed,
        sent(2, FRIDAY, "Good day."),
        f"turn 2: the agent was killed, and the request lacks {FRIDAY!r}",
    ),
    case(
        "loss-is-not-hidden",
        killed,
        sent(2, PARTIAL, "No response requested."),
        f"turn 2: the history has {PARTIAL!r} of the turn that was lost, and the request lacks it",
    ),
    case(
        "no-process-is-left",
        with_processes,
        of_all(LeftBehind, processes=("sleep", "node", "sleep"), started=4),
        "the agent was shut down, and 1 × node, 2 × sleep of 4 processes are still running",
    ),
    case(
        "working-folder-stays-as-it-is",
        "resumed",
        of_all(LeftBehind, files=("project/.mcp.json",)),
        "the agent has left project/.mcp.json in the folder that it worked in",
    ),
    case(
        "key-is-in-no-command-line",
        with_processes,
        of_all(LeftBehind, exposed=("node",), started=1),
        "the key stands in the command line of node",
    ),
    case("usage-is-of-the-turn", "resumed", with_what_came_before, "turn 1: the agent told (306, 34) tokens"),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_good_run_holds_and_a_spoilt_one_is_found(case: Case) -> None:
    decide(case)


def other_arguments(view: View) -> View:
    return event(ToolRun, 1, args={"bed": "4"})(view)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("calls-run-once", "resumed", other_arguments),
        ("calls-run-once", "resumed", lambda view: spoilt(view, ToolRun, lambda one: None)),
        ("denied-tools-do-not-run", "denied", ended(0, **FAILED)),
        ("one-turn-at-a-time", "at_once", event(SaidBeside, 1, outcome="open")),
        ("one-turn-at-a-time", "at_once", event(SaidBeside, 1, error="KeyError", typed=False)),
        ("one-turn-at-a-time", "at_once", ended(1, text="Yes, I am here.")),
        ("cancelled-turn-serves-the-next", "cancelled", ended(2, **FAILED)),
        ("cancelled-turn-serves-the-next", "cancelled", sent(2, "Rose bed, herb bed, bean bed.", "Beds.")),
        ("cancelled-turn-serves-the-next", "cancelled", ended(3, text="It lies to the west.")),
        ("cancel-ends-the-request", "cancelled", ended(1, outcome="answer")),
        ("failed-turn-serves-the-next", "failed", body(2, lambda found: found.update(messages=found["messages"][-1:]))),
        ("failure-is-no-answer", "failed", never_raised),
        ("failure-is-no-answer", "failed", untyped(1)),
        ("killed-agent-ends-the-turn", killed, untyped(1)),
        ("killed-agent-ends-the-turn", killed, never_raised),
        ("earlier-turns-survive-a-kill", killed, sent(3, FRIDAY, "Good day.")),
        ("earlier-turns-survive-a-kill", killed, ended(2, **FAILED)),
    ],
)
def test_each_other_way_to_get_it_wrong_is_found(name: str, good: str | Callable[[], View], bad: Change) -> None:
    right = ran(good) if isinstance(good, str) else good()
    assert status(name, right) is Status.HELD
    assert status(name, bad(right)) is Status.VIOLATED


# -- what must not be accused ----------------------------------------------------------------------------------------


def test_an_agent_without_processes_cannot_be_killed() -> None:
    view = of_all(Killed, processes=0)(killed())
    for name in ("killed-agent-ends-the-turn", "earlier-turns-survive-a-kill", "loss-is-not-hidden"):
        assert status(name, view) is Status.INCONCLUSIVE
    for name in ("no-process-is-left", "key-is-in-no-command-line"):
        assert status(name, ran("resumed")) is Status.INCONCLUSIVE


def test_what_is_in_no_history_may_be_in_no_request() -> None:
    """The program has stored nothing of the answer that it could not end, and its history does not say so either."""

    def without(messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return tuple(one for one in messages if one.text != PARTIAL)

    view = after(killed(), held(1, without), sent(2, PARTIAL, "No response requested."))
    assert status("loss-is-not-hidden", view) is Status.HELD


def test_a_caller_may_be_told_of_a_broken_stream() -> None:
    assert status("retried-answer-is-shown-once", ran("broken_off")) is Status.HELD


def test_a_reply_may_be_the_last_answer_or_all_of_them() -> None:
    whole = "Bed 7 has leeks and chard."
    assert status("retried-answer-is-shown-once", ended(0, text=whole)(asked_again())) is Status.HELD
    assert status("retried-answer-is-shown-once", ended(0, text="leeks and chard.")(asked_again())) is Status.VIOLATED


TOLD = """41 % of "noon",\nand it's rising"""


@pytest.mark.parametrize(
    "as_sent",
    [TOLD, [{"type": "text", "text": TOLD}], [{"type": "text", "text": "Moisture:"}, {"type": "text", "text": TOLD}]],
    ids=["plain", "in-a-block", "in-one-of-two"],
)
def test_a_result_is_found_whatever_its_characters_and_however_it_is_wrapped(as_sent: Any) -> None:
    def told(found: Any) -> None:
        found["messages"][-1]["content"][0]["content"] = as_sent

    view = body(1, told, nth=1)(ran("resumed"))
    script = view.scenario
    turns = [replace(turn, results={"read_sensor": ToolScript(TOLD)}) for turn in script.turns]
    known = View(view.transcript, view.dialect, replace(script, turns=tuple(turns)))
    assert status("results-reach-the-model", known) is Status.HELD
    assert status("results-reach-the-model", sent(1, "rising", "falling", nth=1)(known)) is Status.VIOLATED
