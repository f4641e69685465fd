"""When one attempt may make more than one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import (
    WireRequest,
    WireResponse,
)

from .build import spoilt
from .cases import status
from .conversations import overloaded


def asked_again(*, with_another_token: bool, status: int = 401) -> View:
    """A call whose first request is refused, and which makes it again before it returns."""
    return _made_again(status, lambda request: replace(request, operation="authenticate"), with_another_token)


def looked_up(*, status: int, found: int) -> View:
    """A call whose first request is refused, which then looks for the stored answer, and makes the request again."""
    view = _made_again(status, lambda request: replace(request, operation="stored", method="GET", extra=True))
    return spoilt(
        view,
        WireResponse,
        lambda event: replace(event, status=found) if event.exchange == 98 else event,
        every=True,
    )


def _made_again(status: int, between_both: Callable[[WireRequest], WireRequest], is_between: bool = True) -> View:
    view = overloaded(status, "AuthenticationError")
    events: list[Any] = list(view.transcript.events)
    at = next(n for n, event in enumerate(events) if isinstance(event, WireRequest))
    between = [replace(event, exchange=98) for event in events[at : at + 2]]
    between[0] = between_both(between[0])
    again = [replace(event, exchange=99) for event in events[at : at + 2]]
    rest = [*(between if is_between else ()), *again, *events[at + 2 :]]
    return View(replace(view.transcript, events=(*events[: at + 2], *rest)), view.dialect, view.scenario)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (asked_again(with_another_token=True), Status.HELD),
        (asked_again(with_another_token=False), Status.VIOLATED),
        (asked_again(with_another_token=True, status=429), Status.VIOLATED),
    ],
    ids=["another-token", "the-same", "not-for-its-token"],
)
def test_a_refused_token_may_be_exchanged_and_the_request_made_again(view: View, expected: Status) -> None:
    assert status("errors/one-request-per-attempt", view) is expected


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (looked_up(status=403, found=404), Status.HELD),
        (looked_up(status=403, found=200), Status.VIOLATED),
        (looked_up(status=200, found=404), Status.VIOLATED),
    ],
    ids=["lost", "still-there", "not-refused"],
)
def test_a_request_may_be_made_again_without_a_stored_answer_that_is_lost(view: View, expected: Status) -> None:
    assert status("errors/one-request-per-attempt", view) is expected
