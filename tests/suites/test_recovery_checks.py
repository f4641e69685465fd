"""Checks of recovery: what a session does after a failure that passes."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, ToolResult
from turnproof.run.transcript import (
    Chunk,
    Failed,
    TakenBack,
    TurnEnded,
    WireRequest,
)
from turnproof.scenarios.model import Fault

from .build import RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, findings, good_runs_hold, points_to_something, status
from .conversations import overloaded, resent_results, too_long
from .failed_runs import other_words, shown_twice, taken_back
from .test_history_checks import uncalled


def test_a_broken_answer_that_was_taken_for_whole_is_not_asked_again_by_the_next_round() -> None:
    """Its last event alone was lost: the calls in it are run, and what follows goes on from them."""
    call, result = FunctionCall("c1", "read_sensor", {"bed": "3"}), ToolResult("c1", "read_sensor", "41 %")
    script = scripted(["I look."], ["It is moist."], user="Hi.", faults=(Fault("reset"),))
    builder = RunBuilder(script, name="faults/taken_for_whole").turn("Hi.").call("I look.", call, fault="reset")
    builder.add(Chunk(text="I look.", turn=0, call=0)).results(result)
    view = uncalled(builder.call("It is moist.").end().view())
    assert [bool(one.fault) for one in view.exchanges] == [True, False]
    assert status("recovery/other-words-are-not-joined", view) is Status.INCONCLUSIVE


def shown(text: str) -> Any:
    return lambda view: spoilt(view, TurnEnded, lambda event: replace(event, shown=text))


def doubled_result(body: Any) -> None:
    body["messages"][2]["content"] *= 2


CASES = [
    Case(
        "recovery/turn-survives-a-passing-fault",
        overloaded,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error")),
        "passing fault",
        "no-answer",
        "/2/outcome",
    ),
    Case(
        "recovery/a-retried-request-is-the-same",
        resent_results,
        lambda view: spoilt(view, WireRequest, body_with(lambda body: body["messages"].pop(0) and None), 2),
        'expected ["user", [{"part": "text", "text": "Read!"}]], as in the attempt before; got nothing',
        "changed",
    ),
    Case(
        "recovery/results-go-out-once",
        resent_results,
        lambda view: spoilt(view, WireRequest, body_with(doubled_result), 2),
        '1 as the number of results for the call "toolu_1"; got 2',
        "twice",
        "/messages/2/content/1",
    ),
    Case(
        "recovery/text-is-shown-once",
        shown_twice,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, shown="Bed 3 Bed 3 is moist.")),
        'expected "Bed 3 is moist."; got "Bed 3 Bed 3 is moist."',
        "not-the-answer",
        "/2/shown",
    ),
    Case(
        "recovery/other-words-are-not-joined",
        lambda: other_words("answer"),
        shown("Bed 3 It is moist."),
        'expected "It is moist."; got "Bed 3 It is moist."',
        "joined",
        "/2/shown",
    ),
    Case(
        "recovery/other-words-are-not-joined",
        other_words,
        lambda view: spoilt(view, Failed, lambda event: replace(event, error="KeyError", typed=False), every=True),
        "KeyError",
        "untyped",
    ),
    Case(
        "recovery/shown-text-is-taken-back",
        taken_back,
        lambda view: shown("Bed 3 It is moist.")(spoilt(view, TakenBack, lambda event: None)),
        'expected "Bed 3 is moist." to be taken back; got nothing',
        "not-told",
    ),
    Case(
        "recovery/shown-text-is-taken-back",
        taken_back,
        lambda view: spoilt(view, TakenBack, lambda event: replace(event, text="3 ")),
        'expected a beginning of "Bed 3 is moist."; got "3 "',
        "other-text",
    ),
    Case(
        "recovery/shown-text-is-taken-back",
        taken_back,
        shown("Bed 3 It is moist."),
        'expected "It is moist."; got "Bed 3 It is moist."',
        "still-shown",
    ),
    Case(
        "recovery/shown-text-is-taken-back",
        taken_back,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error")),
        '"answer"',
        "no-answer",
    ),
    Case(
        "recovery/a-too-long-prompt-is-shortened",
        too_long,
        lambda view: _never_sent(view),
        "nothing shorter",
        "not-sent",
        "",
    ),
]


def _never_sent(view: View) -> View:
    events = tuple(event for event in view.transcript.events if event.call != 2)
    return View(replace(view.transcript, events=events), view.dialect, view.scenario)


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_a_next_prompt_that_is_no_shorter_is_found() -> None:
    view = too_long(shorter=False)
    (found,) = findings("recovery/a-too-long-prompt-is-shortened", view)
    assert found.code == "recovery/a-too-long-prompt-is-shortened/no-shorter"
    assert (found.expected, found.place.call) == (found.observed, 2)


def test_text_that_a_broken_stream_never_carried_is_found() -> None:
    view = spoilt(shown_twice(), Chunk, lambda event: replace(event, text="Bed 9 "))
    found = findings("recovery/text-is-shown-once", view)
    assert [one.code.rpartition("/")[2] for one in found] == ["not-on-the-wire"]
    points_to_something(found[0], view)


@pytest.mark.parametrize(
    ("kind", "came", "expected"),
    [
        ("idle-close", False, Status.INCONCLUSIVE),
        ("idle-close", True, Status.VIOLATED),
        ("compressed", True, Status.INCONCLUSIVE),
    ],
    ids=["before the fault came", "behind the fault", "behind an answer in another form"],
)
def test_a_refused_request_is_no_want_of_recovery_where_no_fault_had_come(
    kind: Literal["idle-close", "compressed"], came: bool, expected: Status
) -> None:
    rule = {"rule": "anthropic-messages/empty-text", "evidence": "ISSUE", "status": 400, "path": "$", "enforced": True}
    builder = RunBuilder(scripted(["Dry."], user="Bed 3?", faults=(Fault(kind),))).turn("Bed 3?")
    builder.call("Dry.", fault=kind if came else None, returns=False).failed(error("InvalidRequestError"))
    view = spoilt(builder.end("error").view(), WireRequest, lambda event: replace(event, findings=(rule,)))
    assert status("recovery/turn-survives-a-passing-fault", view) is expected
