"""Checks of images, documents and attachments."""

from __future__ import annotations

from typing import Any

from turnproof.judge.verdict import Status

from .build import RunBuilder, changed_request, scripted
from .cases import Case, good_runs_hold, status
from .conversations import PNG, pictures


def without(kind: str, message: int) -> Any:
    def change(body: Any) -> None:
        content = body["messages"][message]["content"]
        body["messages"][message]["content"] = [block for block in content if block["type"] != kind]

    return change


CASES = [
    Case(
        "multimodal/images-reach-the-wire",
        pictures,
        changed_request(without("image", 0), 1),
        "image/png",
        "missing",
        "/messages/0/content",
    ),
    Case(
        "multimodal/documents-reach-the-wire",
        pictures,
        changed_request(without("document", 0), 1),
        "application/pdf",
        "missing",
        "/messages/0/content",
    ),
    Case(
        "multimodal/attachments-of-results-reach-the-wire",
        pictures,
        changed_request(lambda body: body["messages"][2]["content"][0]["content"].pop() and None, 1),
        'in the result of the call "toolu_1"',
        "missing",
        "/messages/2/content/0",
    ),
    Case(
        "multimodal/content-keeps-its-order",
        pictures,
        changed_request(lambda body: body["messages"][0]["content"].reverse()),
        "another order",
        "order",
        "/messages/0/content",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_a_picture_in_two_messages_goes_out_twice() -> None:
    builder = RunBuilder(scripted(["Dry."], user="May:"), scripted(["The same."], user="June:"))
    view = builder.turn("May:", PNG).call("Dry.").end().turn("June:", PNG).call("The same.").end().view()
    assert status("multimodal/images-reach-the-wire", view) is Status.HELD
    once = changed_request(without("image", 2), 1)(view)
    assert status("multimodal/images-reach-the-wire", once) is Status.VIOLATED


def behind_the_results(body: dict[str, Any]) -> None:
    """What the tool attached stands in the user's message, behind its result."""
    content = body["messages"][2]["content"]
    content.append(content[0]["content"].pop())


def test_what_a_tool_attached_may_stand_behind_its_result_where_the_result_has_room_for_it() -> None:
    requirement = "multimodal/attachments-of-results-reach-the-wire"
    assert status(requirement, changed_request(behind_the_results, 1)(pictures())) is Status.HELD
    asked_before = changed_request(
        lambda body: body["messages"][0]["content"].append(body["messages"][2]["content"][0]["content"].pop()), 1
    )
    assert status(requirement, asked_before(pictures())) is Status.VIOLATED
