"""Checks of errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FinishReason, Message, ProviderResponse, Text
from turnproof.run.transcript import (
    Failed,
    HistorySnapshot,
    Response,
    WireRequest,
    WireResponse,
)
from turnproof.scenarios.model import Fault

from .build import DIALECT, RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, findings, good_runs_hold, points_to_something, status, suite
from .conversations import THREE, cut_off, overloaded, refused, too_long
from .failed_runs import changed, raised, shown_twice


def answered_instead(text: str = "", finish: FinishReason = FinishReason.STOP) -> Any:
    """The call that failed returns a response."""
    response = ProviderResponse(parts=(Text(text),) if text else (), finish_reason=finish)
    return lambda view: spoilt(
        view, Failed, lambda event: Response(response=response, turn=event.turn, call=event.call)
    )


def error_event() -> View:
    """A stream in which an error event ends the answer."""
    builder = RunBuilder(scripted([THREE], user="Hi.", faults=(Fault("error-event"),)))
    builder.turn("Hi.").call(THREE, fault="error-event", returns=False)
    builder.failed(error("OverloadedError", retryable=True)).retried().call(THREE).end()

    def ended_early(event: WireResponse) -> WireResponse:
        body = (
            event.body.split("event: message_delta")[0]
            + DIALECT.error_event("overloaded_error", "Overloaded").data.decode()
        )
        return replace(event, body=body, ended="cut-by-us")

    return spoilt(builder.view(), WireResponse, ended_early)


def no_end() -> View:
    """A stream that ends before its end marker."""

    def ended_early(event: WireResponse) -> WireResponse:
        return replace(event, body=event.body.split("event: message_delta")[0], ended="cut-by-us")

    return spoilt(cut_off("no-end"), WireResponse, ended_early)


def two_requests(view: View) -> View:
    """The failing call makes its request twice."""
    events = list(view.transcript.events)
    at = next(n for n, event in enumerate(events) if isinstance(event, WireRequest))
    again = [replace(event, exchange=99) for event in events[at : at + 2]]
    return View(
        replace(view.transcript, events=(*events[: at + 2], *again, *events[at + 2 :])), view.dialect, view.scenario
    )


def kept_the_message(event: HistorySnapshot) -> HistorySnapshot:
    return replace(event, messages=(*event.messages, Message.user("Now this.")))


def with_type() -> View:
    """A refusal whose error has the service's own type."""
    view: View = changed(kind="overloaded_error")(overloaded())
    return view


def with_what_arrived() -> View:
    """A stream that broke after some text, which the error has."""
    view: View = changed(partial=(Text("Bed 3 "),))(shown_twice())
    return view


def with_figures() -> View:
    """A prompt that is too long, and an error with both figures."""
    view: View = changed(limit=200, requested=300)(too_long())
    return view


def test_a_type_may_be_any_that_the_answer_names_but_not_its_message() -> None:
    for kind, expected in (("error", Status.HELD), ("Overloaded", Status.VIOLATED)):
        assert status("errors/providers-own-type-is-kept", changed(kind=kind)(overloaded())) is expected


@pytest.mark.parametrize(("kind", "expected"), [("400", Status.HELD), ("40", Status.VIOLATED)])
def test_a_code_may_be_a_number_on_the_wire(kind: str, expected: Status) -> None:
    body = {"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long"}}

    def with_number(event: WireResponse) -> WireResponse:
        return replace(event, body=json.dumps(body)) if event.status == 529 else event

    view = spoilt(changed(kind=kind)(overloaded()), WireResponse, with_number)
    assert status("errors/providers-own-type-is-kept", view) is expected


def test_a_refusal_with_one_number_owes_no_figures() -> None:
    view = refused(message="Request body too large for gpt-4.1 model. Max size: 8000 tokens.", status=413)
    assert status("errors/context-figures-are-kept", view) is Status.INCONCLUSIVE


CASES = [
    Case(
        "errors/failures-are-typed",
        overloaded,
        raised("AttributeError", typed=False),
        "AttributeError",
        "untyped",
        "/error",
    ),
    Case("errors/error-answers-are-raised", overloaded, answered_instead(), "529", "returned", "/finish_reason"),
    Case(
        "errors/status-is-kept",
        overloaded,
        changed(status=None),
        "expected the status 529; got nothing",
        "wrong-status",
        "",
    ),
    Case(
        "errors/class-fits-the-status",
        lambda: overloaded(429, "RateLimitError"),
        raised("InvalidRequestError", "ProviderError"),
        "expected RateLimitError for the API's answer 429 rate_limit_error; got InvalidRequestError",
        "wrong-class",
        "/error",
    ),
    Case(
        "errors/passing-failures-are-retryable",
        overloaded,
        changed(retryable=False),
        "the API answered 529",
        "not-retryable",
        "",
    ),
    Case(
        "errors/lasting-failures-are-not-retryable",
        refused,
        changed(retryable=True),
        "is retryable",
        "retryable",
        "/retryable",
    ),
    Case(
        "errors/words-are-kept",
        overloaded,
        changed(message="the request failed"),
        'the API\'s words "Overloaded"',
        "missing",
        "/message",
    ),
    Case(
        "errors/retry-after-is-kept",
        overloaded,
        changed(retry_after=None),
        "7.0 seconds; got nothing",
        "wrong-wait",
        "",
    ),
    Case(
        "errors/retry-after-is-kept",
        overloaded,
        changed(retry_after=9.5),
        "7.0 seconds; got 9.5",
        "wrong-wait",
        "/retry_after",
    ),
    Case(
        "errors/providers-own-type-is-kept",
        with_type,
        changed(kind=None),
        'expected the `kind` "overloaded_error"; got nothing',
        "other-type",
        "",
    ),
    Case(
        "errors/providers-own-type-is-kept",
        with_type,
        changed(kind="OverloadedError"),
        'got "OverloadedError"',
        "other-type",
        "/kind",
    ),
    Case(
        "errors/partial-answer-is-kept",
        with_what_arrived,
        changed(partial=()),
        'expected the text "Bed 3 " in `partial`, as the user was shown; got nothing',
        "other-text",
        "",
    ),
    Case(
        "errors/partial-answer-is-kept",
        with_what_arrived,
        changed(partial=(Text("Bed"),)),
        'got "Bed"',
        "other-text",
        "/partial",
    ),
    Case(
        "errors/context-figures-are-kept",
        with_figures,
        changed(limit=None),
        "expected `limit` from the API's words",
        "missing",
        "",
    ),
    Case(
        "errors/context-figures-are-kept",
        with_figures,
        changed(limit=300, requested=200),
        "got 200 requested of 300",
        "swapped",
        "/requested",
    ),
    Case("errors/one-request-per-attempt", overloaded, two_requests, "2 requests", "repeated", ""),
    Case(
        "errors/context-limit-is-recognised",
        too_long,
        raised("InvalidRequestError", "ProviderError"),
        "prompt is too long",
        "wrong-class",
        "/error",
    ),
    Case(
        "errors/context-limit-is-recognised",
        too_long,
        changed(limit=100_000),
        "got 100000 as `limit`",
        "invented-number",
        "/limit",
    ),
    Case(
        "errors/context-limit-is-recognised",
        too_long,
        changed(requested=7),
        "got 7 as `requested`",
        "invented-number",
        "/requested",
    ),
    Case(
        "errors/other-refusals-are-no-context-limit",
        lambda: refused(message="max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
        raised("ContextLimitError", "ProviderError"),
        "maximum allowed",
        "wrong-class",
        "/error",
    ),
    Case(
        "errors/broken-connections-are-transport-errors",
        lambda: cut_off("reset"),
        raised("RemoteProtocolError", typed=False),
        "the connection broke (reset)",
        "wrong-class",
        "/error",
    ),
    Case(
        "errors/error-events-end-the-call",
        error_event,
        answered_instead("Bed 3 is moist."),
        "overloaded_error",
        "returned",
        "/finish_reason",
    ),
    Case(
        "errors/a-stream-without-its-end-is-no-answer",
        no_end,
        answered_instead("Bed 3"),
        "broke off",
        "returned",
        "/finish_reason",
    ),
    Case(
        "errors/a-failed-turn-leaves-no-trace",
        refused,
        lambda view: spoilt(view, HistorySnapshot, kept_the_message, 3),
        'got {"parts": [{"part": "text", "text": "Now this."}], "role": "user"}',
        "history-changed",
        "/provider/2",
    ),
]


test_the_good_run_holds_and_the_spoilt_one_does_not = good_runs_hold(CASES)


def test_both_numbers_that_the_api_never_gave_are_found() -> None:
    view = changed(limit=100_000, requested=7)(too_long())
    found = findings("errors/context-limit-is-recognised", view)
    assert [one.place.pointer for one in found] == ["/limit", "/requested"]


def test_an_error_may_be_a_class_of_its_own_below_the_right_one() -> None:
    view = raised("AnthropicOverloaded", "OverloadedError", "ProviderError")(overloaded())
    assert status("errors/class-fits-the-status", view) is Status.HELD


def test_a_failed_message_that_lingers_in_the_next_request_is_found() -> None:
    def lingering(body: Any) -> None:
        body["messages"].insert(2, {"role": "user", "content": "Now this."})

    view = spoilt(refused(), WireRequest, body_with(lingering), 2)
    (found,) = findings("errors/a-failed-turn-leaves-no-trace", view)
    assert (found.code.rpartition("/")[2], found.observed) == ("still-sent", "Now this.")
    assert found.place.pointer == "/messages/2/content"
    points_to_something(found, view)


def test_a_cancellation_is_no_failure() -> None:
    builder = (
        RunBuilder(scripted([THREE])).turn("Hi.").call(THREE, returns=False).failed(error("Cancelled", typed=False))
    )
    assert status("errors/failures-are-typed", builder.view()) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
    ],
)
def test_the_apis_sentences_about_long_prompts_are_known(message: str) -> None:
    view = refused(message=message)
    assert status("errors/context-limit-is-recognised", view) is Status.VIOLATED


def test_a_request_of_too_many_bytes_may_be_called_a_bad_one_or_a_long_one() -> None:
    for name in ("InvalidRequestError", "ContextLimitError"):
        view = refused(413, name)
        assert status("errors/class-fits-the-status", view) is Status.HELD
        assert status("errors/context-limit-is-recognised", view) is Status.INCONCLUSIVE
        assert status("recovery/a-too-long-prompt-is-shortened", view) is Status.INCONCLUSIVE


@pytest.mark.parametrize(("raised", "codes"), [("OverloadedError", []), ("RateLimitError", ["wrong-class"])])
def test_an_error_event_is_raised_as_what_it_names(raised: str, codes: list[str]) -> None:
    view = spoilt(error_event(), Failed, lambda event: replace(event, error=raised))
    found = judge(suite().catalogue["errors/error-events-end-the-call"], "stateless", [view])
    assert (found.status is Status.HELD) is (not codes)
    assert [one.code.rpartition("/")[2] for one in found.findings] == codes


def advised(view: View, advice: str) -> View:
    """The service says with its answers whether another attempt makes sense."""
    events = tuple(
        replace(event, headers={**event.headers, "x-should-retry": advice})
        if isinstance(event, WireResponse)
        else event
        for event in view.transcript.events
    )
    return View(replace(view.transcript, events=events), view.dialect, view.scenario)


def test_a_service_that_advises_against_another_attempt_is_believed() -> None:
    final = changed(retryable=False)(overloaded())

    assert status("errors/passing-failures-are-retryable", final) is Status.VIOLATED
    assert status("errors/passing-failures-are-retryable", advised(final, "false")) is Status.INCONCLUSIVE
    assert status("errors/passing-failures-are-retryable", advised(final, "true")) is Status.VIOLATED


def test_a_service_that_advises_another_attempt_is_believed() -> None:
    again = changed(retryable=True)(refused())

    assert status("errors/lasting-failures-are-not-retryable", again) is Status.VIOLATED
    assert status("errors/lasting-failures-are-not-retryable", advised(again, "true")) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("view", "name", "expected"),
    [
        (no_end(), "OverloadedError", Status.HELD),
        (no_end(), "RateLimitError", Status.VIOLATED),
        (cut_off("reset"), "OverloadedError", Status.VIOLATED),
    ],
    ids=["in-order", "in-order-by-another-name", "reset"],
)
def test_a_stream_that_the_server_ends_in_order_without_its_end_may_be_the_servers_failure(
    view: View, name: str, expected: Status
) -> None:
    requirement = "errors/broken-connections-are-transport-errors"
    assert status(requirement, raised(name, "ProviderError")(view)) is expected
