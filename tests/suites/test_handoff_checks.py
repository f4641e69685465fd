"""Checks of a conversation that began elsewhere: what may change on its way to this model, and what may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, ProviderData, Text, Thought, ToolResult
from turnproof.run.transcript import CallBegan, WireRequest

from .build import DIALECT, RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, good_runs_hold, suite
from .conversations import READ, THREE

SIGNED = ProviderData("elsewhere", "another-model", {"signature": "c2lnbmVk"})
GIVEN_HISTORY = (
    Message.user("See to beds 3 and 4."),
    Message.model(
        FunctionCall("given_1", "read_sensor", {"bed": "3"}, provider_data=SIGNED),
        FunctionCall("given_2", "read_sensor", {"bed": "4"}, provider_data=SIGNED),
    ),
    Message.tool(ToolResult("given_1", "read_sensor", "12 %"), ToolResult("given_2", "read_sensor", "13 %")),
    Message.model("Both are dry."),
    Message("system", (Text("Be brief."),), "s1"),
)


def handed_over(name: str = "handoff/made") -> View:
    """A turn on top of a conversation from elsewhere; its instruction goes out at the top."""
    builder = RunBuilder(
        scripted([THREE], user="Now?"), name=name, tools=(READ,), system="You keep a greenhouse log.\nBe brief."
    )
    builder.scenario = replace(builder.scenario, given=GIVEN_HISTORY)
    builder.history = list(GIVEN_HISTORY[:-1])
    return builder.turn("Now?").call(THREE).end().view()


def body(change: Callable[[dict[str, Any]], Any]) -> Callable[[View], View]:
    """The first request with its body changed in place."""

    def changed(body: dict[str, Any]) -> dict[str, Any]:
        change(body)
        return body

    return lambda view: spoilt(view, WireRequest, body_with(changed))


def blocks(body: dict[str, Any], message: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body["messages"][message]["content"]
    return found


CASES = [
    Case(
        "handoff/foreign-history-is-sent",
        handed_over,
        body(lambda body: body["messages"].pop(0)),
        '{"user": "See to beds 3 and 4."}',
        "changed",
        "/messages/0/content/0",
    ),
    Case(
        "handoff/foreign-history-is-sent",
        handed_over,
        body(lambda body: blocks(body, 1)[0].update(input={})),
        '"bed": "3"',
        "changed",
        "/messages/1/content/0",
    ),
    Case(
        "handoff/foreign-ids-stay-linked",
        handed_over,
        body(lambda body: [block.update(tool_use_id="given_1") for block in blocks(body, 2)]),
        'a result with the id "given_2"; got "given_1"',
        "unlinked",
        "/messages/2/content/1/tool_use_id",
    ),
    Case(
        "handoff/foreign-ids-stay-linked",
        handed_over,
        body(
            lambda body: [
                block.update({key: "given"})
                for message, key in ((1, "id"), (2, "tool_use_id"))
                for block in blocks(body, message)
            ]
        ),
        'got "given" again',
        "shared",
        "/messages/1/content/1/id",
    ),
    Case(
        "handoff/foreign-signatures-are-withheld",
        handed_over,
        body(lambda body: blocks(body, 3).insert(0, {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"})),
        'got "c2lnbmVk"',
        "sent",
        "/messages/3/content/0/signature",
    ),
    Case(
        "core/instructions-between-turns-are-sent",
        handed_over,
        body(lambda body: body.update(system=[{"type": "text", "text": "You keep a greenhouse log."}])),
        'the instruction "Be brief."',
        "missing",
        "/messages",
    ),
]


test_a_kept_requirement_holds_and_a_broken_one_is_named = good_runs_hold(CASES)


@pytest.mark.parametrize("requirement", sorted({case.id for case in CASES}))
def test_without_a_conversation_from_elsewhere_nothing_is_decided(requirement: str) -> None:
    view = handed_over()
    alone = View(view.transcript, DIALECT, replace(view.scenario, given=()))
    verdict = Case(requirement, lambda: alone, lambda view: view).verdict(alone)
    assert verdict.status is Status.INCONCLUSIVE


def test_ids_may_be_made_legal_as_long_as_they_stay_linked() -> None:
    def renamed(body: dict[str, Any]) -> None:
        for message, key in ((1, "id"), (2, "tool_use_id")):
            for block in blocks(body, message):
                block[key] = f"toolu_{block[key]}"

    view = body(renamed)(handed_over())
    case = Case("handoff/foreign-ids-stay-linked", lambda: view, lambda view: view)
    assert case.verdict(view).status is Status.HELD


def test_what_the_other_model_thought_may_be_told_in_a_tag_and_nothing_else_may_be_added() -> None:
    thinking = Message.model(Thought("Dry at 12 %."), *GIVEN_HISTORY[3].parts)

    def status_with(text: str) -> Status:
        view = body(lambda body: blocks(body, 2).append({"type": "text", "text": text}))(handed_over())
        history = (*GIVEN_HISTORY[:3], thinking, GIVEN_HISTORY[4])
        view = View(view.transcript, DIALECT, replace(view.scenario, given=history))
        return Case("handoff/foreign-history-is-sent", lambda: view, lambda view: view).verdict(view).status

    assert status_with("<assistant_thinking>\nDry at 12 %.\n</assistant_thinking>") is Status.HELD
    assert status_with("Dry at 12 %.") is Status.VIOLATED


@pytest.mark.parametrize(("data", "status"), [(None, Status.HELD), (SIGNED, Status.VIOLATED)])
def test_a_thought_that_bears_no_mark_may_be_the_models_own(data: ProviderData | None, status: Status) -> None:
    thought = Thought("Dry at 12 %.", provider_data=data)
    view = body(lambda body: blocks(body, 1).insert(0, {"type": "thinking", "thinking": thought.text}))(handed_over())
    history = (GIVEN_HISTORY[0], Message.model(thought, *GIVEN_HISTORY[1].parts), *GIVEN_HISTORY[2:])
    view = View(view.transcript, DIALECT, replace(view.scenario, given=history))
    assert Case("thinking/nothing-is-forged", lambda: view, lambda view: view).verdict(view).status is status


def test_an_instruction_may_go_out_in_the_users_name() -> None:
    def moved(body: dict[str, Any]) -> None:
        body["system"] = [{"type": "text", "text": "You keep a greenhouse log."}]
        blocks(body, 4).insert(0, {"type": "text", "text": "Be brief."})

    view = body(moved)(handed_over())
    case = Case("core/instructions-between-turns-are-sent", lambda: view, lambda view: view)
    assert case.verdict(view).status is Status.HELD


@pytest.mark.parametrize(("text", "expected"), [("Be brief.", Status.HELD), ("Be long.", Status.VIOLATED)])
def test_an_instruction_may_be_a_message_of_its_own_in_the_users_name(text: str, expected: Status) -> None:
    def moved(body: dict[str, Any]) -> None:
        body["system"] = [{"type": "text", "text": "You keep a greenhouse log."}]
        body["messages"].insert(0, {"role": "user", "content": [{"type": "text", "text": text}]})

    view = body(moved)(handed_over())
    requirement = suite().catalogue["handoff/foreign-history-is-sent"]
    assert judge(requirement, "stateless", [view]).status is expected


@pytest.mark.parametrize("requirement", ["handoff/foreign-history-is-sent", "core/instructions-between-turns-are-sent"])
@pytest.mark.parametrize(
    ("kind", "expected"), [("ContextLimitError", Status.HELD), ("OverloadedError", Status.VIOLATED)]
)
def test_what_was_left_out_because_a_call_said_that_the_prompt_was_too_long_is_no_loss(
    requirement: str, kind: str, expected: Status
) -> None:
    builder = RunBuilder(
        scripted([THREE], user="Now?"), name="handoff/made", tools=(READ,), system="You keep a log.\nBe brief."
    )
    builder.scenario = replace(builder.scenario, given=GIVEN_HISTORY)
    builder.history = list(GIVEN_HISTORY[:-1])
    builder.turn("Now?").refused(400, error(kind, status=400))
    builder.history = [message for message in builder.history if message.text == "Now?"]
    builder.system = "You keep a log."
    view = builder.call(THREE).end().view()
    assert judge(suite().catalogue[requirement], "stateless", [view]).status is expected


def test_a_session_that_knows_the_window_may_leave_out_what_came_first() -> None:
    view = handed_over()
    shorter = spoilt(view, WireRequest, body_with(lambda body: {**body, "messages": body["messages"][-1:]}))
    requirement = suite().catalogue["handoff/foreign-history-is-sent"]
    assert judge(requirement, "stateless", [shorter]).status is Status.VIOLATED
    shortened = spoilt(shorter, CallBegan, lambda event: replace(event, messages=event.messages[-1:]))
    assert judge(requirement, "stateless", [shortened]).status is Status.VIOLATED
    shortened.scenario = replace(shortened.scenario, options={"context_tokens": 300})
    assert judge(requirement, "stateless", [shortened]).status is not Status.VIOLATED


def test_line_ends_of_an_instruction_may_be_written_otherwise() -> None:
    builder = RunBuilder(scripted([THREE], user="Now?"), name="handoff/made", tools=(READ,), system="Be\nbrief.")
    builder.scenario = replace(
        builder.scenario, given=(*GIVEN_HISTORY[:-1], Message("system", (Text("Be\r\nbrief.\r\n"),), "s1"))
    )
    builder.history = list(GIVEN_HISTORY[:-1])
    view = builder.turn("Now?").call(THREE).end().view()
    requirement = suite().catalogue["core/instructions-between-turns-are-sent"]
    assert judge(requirement, "stateless", [view]).status is Status.HELD
