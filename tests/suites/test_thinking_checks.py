"""Checks of thinking: signed thinking goes back as it came, and nothing is forged."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import WireAnswer
from turnproof.judge.verdict import Status
from turnproof.messages import Part, ProviderData, Text, Thought
from turnproof.run.transcript import (
    Chunk,
    Response,
    Thinking,
    WireRequest,
)
from turnproof_suites.checks_thinking import _is_redacted, _whole_thoughts
from turnproof_suites.content import run_text, thought_runs

from .build import RunBuilder, body_with, changed_request, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import plain, thinking


def without(kind: str, message: int) -> Any:
    def change(body: Any) -> None:
        content = body["messages"][message]["content"]
        body["messages"][message]["content"] = [block for block in content if block["type"] != kind]

    return change


def trimmed(body: Any) -> None:
    body["messages"][1]["content"][0]["thinking"] = "I must"


def call_first(body: Any) -> None:
    content = body["messages"][1]["content"]
    content.insert(0, content.pop())


CASES = [
    Case(
        "thinking/signed-thinking-goes-back-in-a-tool-loop",
        thinking,
        changed_request(without("thinking", 1), 1),
        "Signed thinking",
        "missing",
        "/messages/1/content",
    ),
    Case(
        "thinking/signed-thinking-goes-back-in-a-tool-loop",
        thinking,
        changed_request(lambda body: body["messages"][1]["content"][0].update(signature="b3RoZXI="), 1),
        "The signature of thinking",
        "changed",
        "/messages/1/content/0/signature",
    ),
    Case(
        "thinking/redacted-thinking-goes-back-in-a-tool-loop",
        thinking,
        changed_request(lambda body: body["messages"][1]["content"][1].update(data="b3RoZXI="), 1),
        "Redacted thinking",
        "changed",
        "/messages/1/content/1/data",
    ),
    Case(
        "thinking/redacted-thinking-goes-back-in-a-tool-loop",
        thinking,
        changed_request(without("redacted_thinking", 1), 1),
        "Redacted thinking",
        "missing",
        "/messages/1/content",
    ),
    Case(
        "thinking/nothing-is-forged",
        thinking,
        changed_request(trimmed, 1),
        "never finished",
        "unknown",
        "/messages/1/content/0",
    ),
    Case(
        "thinking/comes-before-its-call",
        thinking,
        changed_request(call_first, 1),
        'got ["call", "thinking"',
        "order",
        "/messages/1/content/1",
    ),
    Case(
        "thinking/blocks-stay-apart",
        thinking,
        lambda view: spoilt(view, Response, response_with(parts=(Thought(text="I must look."),))),
        'expected the thought ""',
        "changed",
        "/parts",
    ),
    Case(
        "thinking/is-passed-on",
        thinking,
        lambda view: spoilt(view, Thinking, lambda event: None),
        "I must look.",
        "callbacks",
    ),
    Case(
        "thinking/is-no-text",
        thinking,
        lambda view: spoilt(view, Chunk, lambda event: replace(event, text="It is known. " + event.text)),
        "passed to `on_chunk`",
        "in-chunks",
        "/2/text",
    ),
    Case(
        "thinking/setting-goes-out",
        thinking,
        changed_request(lambda body: body.pop("thinking") and None, 1),
        "asks for thinking",
        "missing",
        "",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


SIGNED = Thought(text="Hm.", provider_data=ProviderData("anthropic-messages", "", {"signature": "s"}))


def test_thinking_of_turns_that_are_over_may_be_left_out() -> None:
    builder = RunBuilder(
        scripted([Thought(text="Hm."), "Yes."]), scripted(["Sure."]), options={"thinking": {"budget_tokens": 1024}}
    )
    builder.turn("Moist?").call(Thought(text="Hm."), "Yes.").end().turn("Sure?").call("Sure.").end()
    view = spoilt(builder.view(), WireRequest, body_with(without("thinking", 1)), 1)
    for name in ("signed-thinking-goes-back-in-a-tool-loop", "comes-before-its-call"):
        assert status(f"thinking/{name}", view) is Status.INCONCLUSIVE
    assert status("thinking/nothing-is-forged", view) is Status.HELD


def test_nothing_is_decided_on_forged_thinking_before_the_model_has_thought() -> None:
    assert status("thinking/nothing-is-forged", plain()) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("parts", "complete", "whole"),
    [
        ((SIGNED,), False, (SIGNED,)),
        ((SIGNED, Thought(text="Hm.")), True, (SIGNED,)),
        ((Thought(text="Hm."),), True, (Thought(text="Hm."),)),
        ((Thought(text="Hm."),), False, ()),
        ((Thought(text="Hm."), Text("Ye")), False, (Thought(text="Hm."),)),
        ((Thought(text="Hm."), Text("Ye"), Thought(text="No")), False, (Thought(text="Hm."),)),
        ((), False, ()),
    ],
)
def test_a_thought_that_nobody_signs_is_over_where_something_follows_it(
    parts: tuple[Part, ...], complete: bool, whole: tuple[Thought, ...]
) -> None:
    assert _whole_thoughts(WireAnswer(200, parts=parts, complete=complete)) == whole


@pytest.mark.parametrize(
    ("text", "data", "redacted"),
    [
        ("", {"redacted": "RW5j"}, True),
        ("", {"encrypted": "RW5j"}, True),
        ("In short.", {"encrypted": "RW5j"}, False),
        ("", {"signature": "c2ln"}, False),
        ("I must look.", {}, False),
    ],
)
def test_thinking_that_nobody_can_read_is_redacted(text: str, data: dict[str, str], redacted: bool) -> None:
    """Anthropic has blocks of its own for it; in the Responses API it is reasoning without a summary."""
    assert _is_redacted(Thought(text, provider_data=ProviderData("d", "m", data))) is redacted


def test_neighbours_are_one_thought_where_the_wire_has_no_signature() -> None:
    own_data = ProviderData("gemini", "gemini-2.5-flash", {"thought": True, "of a call": "c2lnbmF0dXJl" * 9})
    parts = (Thought("Two ", provider_data=own_data), Thought(""), Thought("beds."), Text("Yes."), Thought("Three."))
    assert [run_text(run) for run in thought_runs(parts, parts[2:])] == ["Two beds.", "Three."]
    assert [run_text(run) for run in thought_runs(parts, parts)] == ["Two ", "beds.", "Three."]
