"""Checks of the key: where it goes, and where it does not."""

from __future__ import annotations

from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import (
    WireRequest,
)

from .build import spoilt
from .cases import Case, good_runs_hold, status, suite
from .conversations import plain

CASES = [
    Case(
        "security/key-is-nowhere-else",
        plain,
        lambda view: View(
            replace(
                view.transcript,
                events=(*view.transcript.events[:-1], replace(view.transcript.end, leaks=("Failed in turn 0",))),
            ),
            view.dialect,
            view.scenario,
        ),
        "Failed in turn 0",
        "leaked",
        "/0/leaks/0",
    ),
    Case(
        "security/key-stays-out-of-addresses",
        plain,
        lambda view: spoilt(view, WireRequest, lambda event: replace(event, path="/v1/messages?key=abc")),
        'the parameter "key"',
        "key-parameter",
    ),
    Case(
        "security/the-key-it-was-given-is-used",
        plain,
        lambda view: spoilt(
            view, WireRequest, lambda event: replace(event, headers={**event.headers, "authorization": "[other]"})
        ),
        "another key",
        "other-key",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_a_request_without_a_key_is_found() -> None:
    view = spoilt(plain(), WireRequest, lambda event: replace(event, headers={}))
    found = judge(suite().catalogue["security/the-key-it-was-given-is-used"], "stateless", [view]).findings
    assert [one.code for one in found] == ["security/the-key-it-was-given-is-used/missing"]


def test_a_token_that_the_key_was_exchanged_for_is_as_good_as_the_key() -> None:
    view = spoilt(
        plain(), WireRequest, lambda event: replace(event, headers={**event.headers, "authorization": "[issued]"})
    )
    assert status("security/the-key-it-was-given-is-used", view) is Status.HELD
