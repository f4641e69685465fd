"""Checks of structured output."""

from __future__ import annotations

from turnproof.judge.verdict import Status
from turnproof.run.transcript import (
    Response,
)

from .build import changed_request, response_with, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import structured

CASES = [
    Case(
        "structured/schema-is-on-the-wire",
        structured,
        changed_request(lambda body: body.pop("output_config") and None),
        "without all of its properties",
        "missing",
        "",
    ),
    Case(
        "structured/output-is-parsed",
        structured,
        lambda view: spoilt(view, Response, response_with(structured_output=None)),
        "structured_output",
        "changed",
        "",
    ),
    Case(
        "structured/output-is-parsed",
        structured,
        lambda view: spoilt(view, Response, response_with(structured_output={"bed": "4", "moist": True})),
        'expected "3"',
        "changed",
        "/structured_output/bed",
    ),
    Case(
        "structured/tools-and-system-stay-in-force",
        structured,
        changed_request(lambda body: body.pop("tools") and None),
        "read_sensor",
        "tool-missing",
        "",
    ),
    Case(
        "structured/tools-and-system-stay-in-force",
        structured,
        changed_request(lambda body: body.pop("system") and None),
        "together with the schema",
        "system-missing",
        "",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_parsed_output_is_compared_by_value_not_by_spelling() -> None:
    view = spoilt(structured(), Response, response_with(structured_output={"moist": True, "bed": "3"}))
    assert status("structured/output-is-parsed", view) is Status.HELD
