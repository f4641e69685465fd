"""Checks of addresses, timeouts, connections and compressed answers."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.commands.reproduce.question import question_of
from turnproof.commands.reproduce.run_findings import UnreproducibleError
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Text
from turnproof.run.transcript import Failed, Response, WireRequest, WireResponse

from .build import RunBuilder, error, response_with, scripted, spoilt
from .cases import Case, decide, suite
from .conversations import THREE, answered_turns

ADDRESS, SILENCE = "core/requests-go-to-the-address", "errors/silence-ends-the-call"
REUSED, IDLE = "core/connections-are-reused", "errors/closed-idle-connections-fail-no-call"
COMPRESSED = "core/compressed-answers-are-read"


def without_exchange(view: View, *, call: int, failed: Failed | None = None) -> View:
    """The call makes no request, and ends so."""
    events = []
    for event in view.transcript.events:
        is_of_call = event.call == call
        if is_of_call and isinstance(event, WireRequest | WireResponse):
            continue
        if is_of_call and isinstance(event, Response) and failed is not None:
            event = replace(failed, turn=event.turn, call=event.call)
        events.append(event)
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def numbered(*numbers: int, mode: str = "batch") -> View:
    view = answered_turns("basics/four_turns", mode)
    for position, number in enumerate(numbers):
        view = spoilt(view, WireRequest, lambda event, n=number: replace(event, connection=n), position)  # type: ignore[misc]
    return view


def silent(ended: str = "cut-by-peer") -> View:
    builder = RunBuilder(scripted([THREE]), name="faults/silent_answer", options={"timeout": 1.5})
    view = builder.turn("Hi.").call(THREE, fault="stall", returns=False).failed(error("TransportError")).end().view()
    return spoilt(view, WireResponse, lambda event: replace(event, ended=ended))


def closed_behind() -> View:
    builder = RunBuilder(scripted([THREE]), scripted(["Yes."]), name="faults/idle_closed")
    return builder.turn("Hi.").call(THREE, fault="idle-close").end().turn("There?").call("Yes.").end().view()


def compressed() -> View:
    builder = RunBuilder(scripted([THREE]), name="faults/compressed")
    return builder.turn("Hi.").call(THREE, fault="compressed").end().view()


def elsewhere(view: View) -> View:
    return without_exchange(view, call=0, failed=error("InvalidRequestError", status=404))


def unknown_path(view: View) -> View:
    view = spoilt(view, WireRequest, lambda event: replace(event, path="/v1/v1/messages", operation="other"))
    return spoilt(view, WireResponse, lambda event: replace(event, status=404))


CASES = [
    Case(ADDRESS, lambda: answered_turns("basics/plain"), elsewhere, "InvalidRequestError", "elsewhere", "/status"),
    Case(ADDRESS, lambda: answered_turns("basics/plain"), unknown_path, "POST /v1/v1/messages", "other-path"),
    Case(SILENCE, silent, lambda _: silent("timed-out"), "after 1.5 seconds of silence", "waited"),
    Case(REUSED, lambda: numbered(0, 0), lambda _: numbered(0, 1), "2 connections for 2 requests", "each-its-own"),
    Case(
        IDLE,
        closed_behind,
        lambda view: without_exchange(view, call=1, failed=error("TransportError", retryable=True)),
        "TransportError",
        "failed",
        "/error",
    ),
    Case(
        COMPRESSED,
        compressed,
        lambda view: spoilt(view, Response, response_with(parts=(Text("\x1f\ufffd"),))),
        "compressed or not",
        "changed",
        "/parts/0/text",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}/{case.code}")
def test_a_broken_run_is_violated_and_the_good_one_is_held(case: Case) -> None:
    decide(case)


def standing(name: str, view: View) -> Any:
    return judge(suite().catalogue[name], "stateless", [view]).status


def test_a_call_that_the_adapter_refuses_by_itself_went_to_no_other_address() -> None:
    view = without_exchange(answered_turns("basics/plain"), call=0, failed=error("InvalidRequestError"))
    assert standing(ADDRESS, view) is Status.HELD  # by the second call


def test_streams_and_runs_whose_connections_nobody_counted_are_not_judged_by_them() -> None:
    assert standing(REUSED, numbered(0, 1, mode="stream")) is Status.INCONCLUSIVE
    assert standing(REUSED, answered_turns("basics/four_turns")) is Status.INCONCLUSIVE


def test_silence_without_a_timeout_says_nothing() -> None:
    view = silent("timed-out")
    unset = View(view.transcript, view.dialect, replace(view.scenario, options={}))
    assert standing(SILENCE, unset) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("name", "view"), [(REUSED, numbered(0, 1)), (ADDRESS, unknown_path(answered_turns("basics/plain")))]
)
def test_no_file_is_made_of_what_no_body_of_a_request_shows(name: str, view: View) -> None:
    (wrong, *_) = judge(suite().catalogue[name], "stateless", [view]).findings
    with pytest.raises(UnreproducibleError, match="show in no single call"):
        question_of(wrong, view.transcript, view.dialect, own_types=True)
