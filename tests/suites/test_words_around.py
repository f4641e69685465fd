"""What programs put around a conversation is no fault: words of their own, other joints, other names for tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import WireRequest

from .stored_runs import Change, after, bodies, body, sent, status, text, verdicts, view_of

EVERY = (
    "resumed",
    "resumed_in_place",
    "unknown",
    "opened_unknown",
    "continued_in_place",
    "continued_elsewhere",
    "damaged",
    "deleted",
    "listed",
    "forked",
    "denied",
    "at_once",
    "cancelled",
    "cancelled_tool",
    "failed",
    "broken_off",
)


def with_filler(found: Any) -> None:
    """What Claude's program puts in front of the newest message, where the last turn came to no end."""
    filler = [text("user", "[Request interrupted by user]"), text("assistant", "No response requested.")]
    found["messages"][-1:-1] = filler if found["messages"][-1]["content"][0]["type"] == "text" else []


def with_context(found: Any) -> None:
    """What Gemini's program puts in front of everything."""
    found["messages"][0]["content"].insert(0, {"type": "text", "text": "<session_context>\nThe date is of no use."})


def with_context_each_time(found: Any) -> None:
    """What stands in front of each message of the user, in the same text."""
    for message in found["messages"]:
        for block in message["content"] if message["role"] == "user" else ():
            if block["type"] == "text":
                block["text"] = f"<context>cwd: /work</context>\n\n{block['text']}"


def with_words_of_its_own(found: Any) -> None:
    found["system"] = [{"type": "text", "text": "You are an agent."}, *found.get("system", ())]


def in_front_of_the_first(found: Any) -> None:
    """The system text has no place of its own."""
    for block in found.pop("system", ()):
        found["messages"][0]["content"].insert(0, block)


def without_halves(found: Any) -> None:
    """Half an answer is not kept, so that the user speaks twice; the two messages become one of two blocks."""
    messages: list[Any] = []
    for message in found["messages"]:
        if "lies to the south" in json.dumps(message):
            continue
        if messages and messages[-1]["role"] == message["role"]:
            messages[-1]["content"] += message["content"]
        else:
            messages.append(message)
    found["messages"] = messages


def in_one_text(found: Any) -> None:
    """As before, and the two texts become one."""
    without_halves(found)
    for message in found["messages"]:
        message["content"] = [{"type": "text", "text": "\n\n".join(block["text"] for block in message["content"])}]


def of_a_server(found: Any) -> None:
    """Tools that are offered by a server go by its name."""
    calls = (block for message in found["messages"] for block in message["content"] if block["type"] == "tool_use")
    for named in (*found.get("tools", ()), *calls):
        named["name"] = f"mcp__session__{named['name']}"


def with_tools_of_its_own(found: Any) -> None:
    found["tools"] = [{"name": "Bash", "description": "Run it", "input_schema": {}}, *found.get("tools", ())]


def same_verdicts(name: str, *changes: Change) -> bool:
    """Whether the verdicts of the whole profile are those of the run as it was."""
    plain = view_of(name)
    changed = after(plain, *changes)
    assert changed.transcript.of(WireRequest) != plain.transcript.of(WireRequest)
    return verdicts(changed) == verdicts(plain)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("change", [with_filler, with_context, with_context_each_time, with_words_of_its_own])
def test_words_around_a_conversation_are_no_fault(name: str, change: Callable[[Any], Any]) -> None:
    assert same_verdicts(name, bodies(change))


@pytest.mark.parametrize("name", ["resumed", "resumed_in_place"])
def test_a_system_text_may_stand_in_front_of_the_first_message(name: str) -> None:
    assert same_verdicts(name, bodies(in_front_of_the_first))


@pytest.mark.parametrize("change", [without_halves, in_one_text])
def test_what_the_user_says_twice_in_a_row_may_be_joined(change: Callable[[Any], Any]) -> None:
    assert same_verdicts("cancelled", bodies(change))


def test_what_a_failed_turn_was_asked_may_be_asked_again() -> None:
    question, next_one = "Tell me about the dahlias.", "What should I cover?"
    assert same_verdicts("failed", sent(2, next_one, f"{question}\\n\\n{next_one}"))


@pytest.mark.parametrize("name", ["resumed", "denied", "at_once", "cancelled_tool"])
@pytest.mark.parametrize("change", [of_a_server, with_tools_of_its_own])
def test_a_program_may_have_tools_of_its_own_and_names_for_those_of_others(
    name: str, change: Callable[[Any], Any]
) -> None:
    assert same_verdicts(name, bodies(change))


@pytest.mark.parametrize("sent_as", ["read_sensor", "mcp__session__read_sensor", "mcp__session__read-sensor"])
def test_a_tool_may_go_by_letters_that_the_service_allows(sent_as: str) -> None:
    view = bodies(lambda found: [one.update(name=sent_as) for one in found["tools"]] and None)(view_of("resumed"))
    (tool,) = view.scenario.tools
    renamed = replace(view.scenario, tools=(replace(tool, name="read-sensor"),))
    assert status("tools-are-there-after-resume", View(view.transcript, view.dialect, renamed)) is Status.HELD


@pytest.mark.parametrize("other", ["write_sensor", "mcp__session__open_valve"])
def test_another_tool_is_another_one(other: str) -> None:
    def another(found: Any) -> None:
        found["tools"] = [{"name": other, "description": "Another one", "input_schema": {"type": "object"}}]

    assert status("tools-are-there-after-resume", body(2, another)(view_of("resumed"))) is Status.VIOLATED
