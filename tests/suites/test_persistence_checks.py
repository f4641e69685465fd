"""Checks of saved and loaded conversations."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Text
from turnproof.run.transcript import (
    Loaded,
    WireRequest,
    WireResponse,
)

from .build import changed_request, spoilt
from .cases import Case, good_runs_hold, status, suite
from .conversations import saved, swapped


def loading(view: View) -> View:
    """The server had counted one more request by the time of the next turn."""
    later = spoilt(view, WireRequest, lambda event: replace(event, exchange=event.exchange + 1), 1)
    return spoilt(later, WireResponse, lambda event: replace(event, exchange=event.exchange + 1), 1)


CASES = [
    Case(
        "persistence/loaded-history-is-the-saved-one",
        saved,
        lambda view: spoilt(view, Loaded, lambda event: replace(event, messages=event.messages[:1])),
        "The loaded history is not the saved one.",
        "changed",
        "/1/messages",
    ),
    Case(
        "persistence/next-request-is-unbroken",
        saved,
        changed_request(lambda body: body["messages"].pop(0) and None, 1),
        "The request after loading",
        "changed",
        "/messages/0/content/0",
    ),
    Case(
        "persistence/a-fresh-object-continues",
        swapped,
        changed_request(lambda body: body.update(messages=body["messages"][-1:]), 1),
        "The request of a new provider object",
        "changed",
    ),
    Case("persistence/loading-sends-nothing", saved, loading, "got 1 requests", "requests"),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


@pytest.mark.parametrize(
    ("operation", "body", "verdict"),
    [
        ("list_models", None, Status.HELD),
        ("get_model", {"model": "qwen3"}, Status.HELD),
        ("other", None, Status.HELD),
        ("other", {"file": "log"}, Status.VIOLATED),
        ("count_tokens", {"messages": []}, Status.VIOLATED),
    ],
)
def test_who_loads_a_conversation_may_ask_about_the_models(operation: str, body: Any, verdict: Status) -> None:
    later = loading(saved())
    events = later.transcript.events
    second = [event for event in events if isinstance(event, WireRequest)][1]
    request = replace(second, exchange=second.exchange - 1, operation=operation, body=body, extra=True, call=-1)
    transcript = replace(later.transcript, events=(*events[:-1], request, events[-1]))
    view = View(transcript, later.dialect, later.scenario)
    assert status("persistence/loading-sends-nothing", view) is verdict


@pytest.mark.parametrize(
    ("keeps_ids", "changed_text", "status"),
    [(False, False, Status.HELD), (True, False, Status.VIOLATED), (False, True, Status.VIOLATED)],
)
def test_loading_may_change_ids_that_a_session_has_no_claim_on(
    keeps_ids: bool, changed_text: bool, status: Status
) -> None:
    """`message_ids=False`: the ids in the history are made up each time that it is read."""

    def with_other_ids(event: Loaded) -> Loaded:
        parts = (Text("Dry."),) if changed_text else None
        messages = (
            replace(one, message_id=f"new{n}", parts=parts or one.parts) for n, one in enumerate(event.messages)
        )
        return replace(event, messages=tuple(messages), message_ids=keeps_ids)

    check = suite().catalogue["persistence/loaded-history-is-the-saved-one"]
    assert judge(check, "stateless", [spoilt(saved(), Loaded, with_other_ids)]).status is status
