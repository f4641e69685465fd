"""What a finding follows from: which refusal explains what is found in the request that was refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from suites.build import error, spoilt
from suites.conversations import plain

from turnproof.judge.finding import Finding, Place, Side
from turnproof.judge.requirements.root_causes import with_root
from turnproof.run.transcript import Response, WireRequest

REFUSAL = {
    "rule": "blank-text",
    "path": "$.messages[0].content",
    "status": 400,
    "message": "text must not be blank",
    "enforced": True,
    "evidence": "DOC",
}


def root_of(pointer: str | None, side: Side = Side.REQUEST) -> str:
    view = spoilt(plain(), WireRequest, lambda event: replace(event, findings=(REFUSAL,)))
    call = next(iter(view.calls))
    place = Place.of_run(side, view.key, turn=0, call=call.index, pointer=pointer)
    return with_root(Finding(code="x/y/z", place=place), view).root


@pytest.mark.parametrize("pointer", ["/messages/0/content", "/messages/0/content/0/text", "/messages/0", "", None])
def test_what_stands_where_the_rule_speaks_follows_from_the_refusal(pointer: str | None) -> None:
    assert root_of(pointer) == "refused:blank-text:$.messages[].content"


@pytest.mark.parametrize("pointer", ["/tools/0", "/messages/1/content", "/messages/0/content_type"])
def test_what_is_wrong_elsewhere_in_the_request_does_not(pointer: str) -> None:
    assert root_of(pointer) == ""


def test_what_a_request_holds_does_not_follow_from_what_its_call_raised_later() -> None:
    raised = replace(error("ValueError", typed=False), turn=0, call=0)
    view = spoilt(plain(), Response, lambda event: raised)
    call = next(iter(view.calls))
    written = Place.of_run(Side.REQUEST, view.key, turn=0, call=call.index, pointer="/tools/0")
    missing = Place.of_run(Side.REQUEST, view.key, turn=0, call=call.index)
    assert with_root(Finding(code="x/y/z", place=written), view).root == ""
    assert with_root(Finding(code="x/y/z", place=missing), view).root.startswith("raised:ValueError")


def test_what_the_call_returned_follows_from_the_refusal_wherever_it_is() -> None:
    assert root_of("/parts/0", Side.RESPONSE).startswith("refused:")
