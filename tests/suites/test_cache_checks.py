"""Checks of caching: marks reach the wire, the prefix stays, and reads grow."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from turnproof.judge.finding import Side
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import (
    CallBegan,
    WireRequest,
    WireResponse,
)

from .build import body_with, changed_request, spoilt
from .cases import Case, good_runs_hold, points_to_something, status, suite
from .conversations import growing


def marked(block: Any) -> None:
    block["cache_control"] = {"type": "ephemeral"}


def many_marks(body: Any) -> None:
    for tool in body["tools"]:
        marked(tool)
    for message in body["messages"]:
        marked(message["content"][0])


def unmarked(body: Any) -> None:
    for message in body["messages"]:
        for block in message["content"]:
            block.pop("cache_control", None)


def reads(view: View) -> View:
    """The last answers read nothing from the cache."""
    return spoilt(
        view,
        WireResponse,
        lambda event: replace(
            event, body=event.body.replace('"cache_read_input_tokens":4000', '"cache_read_input_tokens":0')
        ),
        every=True,
    )


CASES = [
    Case(
        "cache/at-most-four-marks",
        growing,
        changed_request(many_marks, 5),
        "at most 4 cache marks",
        "too-many",
        "/messages/0/content/0",
    ),
    Case(
        "cache/history-is-marked",
        growing,
        changed_request(unmarked, every=True),
        "got none",
        "missing",
        "/messages/4/content/0",
    ),
    Case("cache/marks-reach-the-wire", growing, changed_request(unmarked, 3), "with the life", "lost", "/messages"),
    Case(
        "cache/reads-grow-with-the-history",
        growing,
        reads,
        "got 0",
        "less-read",
        "/5",
    ),
    Case(
        "cache/tool-order-is-stable",
        growing,
        changed_request(lambda body: body["tools"].reverse(), 2),
        "in the order",
        "order",
        "/tools/0/name",
    ),
    Case(
        "cache/prefix-is-stable",
        growing,
        changed_request(lambda body: body["messages"][0]["content"][0].update(text="Entry 0, now."), 3),
        'got "Entry 0, now."',
        "changed",
        "/messages/0/content/0/text",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_a_cache_that_only_ever_serves_the_head_of_the_prompt_is_found() -> None:
    def constant(event: WireResponse) -> WireResponse:
        body = event.body
        for n in range(1, 6):
            body = body.replace(f'"cache_read_input_tokens":{1500 + 500 * n}', '"cache_read_input_tokens":1000')
        return replace(event, body=body)

    view = spoilt(growing(), WireResponse, constant, every=True)
    verdict = judge(suite().catalogue["cache/reads-grow-with-the-history"], "stateless", [view])
    (found,) = verdict.findings
    assert found.code == "cache/reads-grow-with-the-history/no-growth"
    assert (found.place.side, found.place.pointer) == (Side.REQUEST, "/messages/10/content/0")
    assert [place.side for place in found.related] == [Side.STREAM]
    points_to_something(found, view)


def test_the_life_of_a_mark_is_part_of_it() -> None:
    def longer(event: WireRequest) -> WireRequest:
        return body_with(lambda body: body["messages"][-1]["content"][0]["cache_control"].update(ttl="1h"))(event)

    assert status("cache/marks-reach-the-wire", spoilt(growing(), WireRequest, longer)) is Status.VIOLATED


def test_a_session_that_knows_the_window_may_drop_what_is_cached() -> None:
    def shorter(event: CallBegan) -> CallBegan:
        return replace(event, messages=event.messages[-1:]) if event.call == 5 else event

    view = spoilt(reads(growing()), CallBegan, shorter, every=True)
    assert _accused(view)
    view.scenario = replace(view.scenario, options={"context_tokens": 300})
    assert _accused(view) == []


def _accused(view: View) -> list[str]:
    verdict = judge(suite().catalogue["cache/reads-grow-with-the-history"], "stateless", [view])
    return [found.code for found in verdict.findings if found.code.endswith("/less-read") and found.place.call == 5]
