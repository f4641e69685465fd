"""Correct agents unlike the reference session's: no requirement of the profile accuses them.

Programs put words of their own around a conversation, tell less than they could, and do things in another order. Where
a recommendation is all that is missed, it is that one and no other.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace as with_fields
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse
from turnproof.session.store.agent import StoredAgent
from turnproof.transcript import (
    HistorySnapshot,
    LeftBehind,
    SaidBeside,
    SessionListed,
    SessionStepped,
    TurnEnded,
    UsageReport,
    WireRequest,
    WireResponse,
)
from turnproof.verdict import Status
from turnproof.view import View
from turnproof_adapters.anthropic.binding import BINDING

from .agent_runs import Say, conversation, done
from .build import body_with, error, spoilt
from .cases import suite
from .stored_runs import (
    STORED,
    Change,
    accused,
    after,
    asked_again,
    bodies,
    body,
    ended,
    event,
    held,
    in_force,
    inserted,
    killed,
    of_all,
    ran,
    run_of,
    scenario,
    sent,
    status,
    stepped,
    with_processes,
)

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


def text(role: str, said: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": said}]}


# -- words of its own around a conversation --------------------------------------------------------------------------


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


def joined(found: Any) -> None:
    """Texts of the user that follow each other become one, and so do those of the model."""
    messages: list[Any] = []
    for message in found["messages"]:
        texts = all(block["type"] == "text" for block in message["content"])
        if messages and texts and messages[-1]["role"] == message["role"]:
            last = messages[-1]["content"][-1]
            last["text"] = "\n\n".join([last["text"], *(block["text"] for block in message["content"])])
        else:
            messages.append(message)
    found["messages"] = messages


def in_blocks(found: Any) -> None:
    """Each message of the user stands in a block beside the one before it, and half answers are not kept."""
    found["messages"] = [one for one in found["messages"] if "lies to the south" not in json.dumps(one)]
    messages: list[Any] = []
    for message in found["messages"]:
        if messages and messages[-1]["role"] == message["role"]:
            messages[-1]["content"] += message["content"]
        else:
            messages.append(message)
    found["messages"] = messages


def in_one_text(found: Any) -> None:
    in_blocks(found)
    for message in found["messages"]:
        if len(message["content"]) > 1 and all(block["type"] == "text" for block in message["content"]):
            message["content"] = [{"type": "text", "text": "\n".join(block["text"] for block in message["content"])}]


def of_a_server(found: Any) -> None:
    """Tools that are offered by a server go by its name."""
    calls = (block for message in found["messages"] for block in message["content"] if block["type"] == "tool_use")
    for named in (*found.get("tools", ()), *calls):
        named["name"] = f"mcp__session__{named['name']}"


def with_tools_of_its_own(found: Any) -> None:
    found["tools"] = [{"name": "Bash", "description": "Run it", "input_schema": {}}, *found.get("tools", ())]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "change",
    [
        with_filler,
        with_context,
        with_context_each_time,
        with_words_of_its_own,
        in_front_of_the_first,
        joined,
        in_blocks,
        in_one_text,
        of_a_server,
        with_tools_of_its_own,
    ],
)
def test_what_a_program_puts_around_a_conversation_is_no_fault(name: str, change: Callable[[Any], Any]) -> None:
    assert accused(bodies(change)(ran(name))) == set()


@pytest.mark.parametrize("sent_as", ["read_sensor", "mcp__session__read_sensor", "mcp__session__read-sensor"])
def test_a_tool_may_go_by_letters_that_the_service_allows(sent_as: str) -> None:
    view = bodies(lambda found: [one.update(name=sent_as) for one in found["tools"]] and None)(ran("resumed"))
    (tool,) = view.scenario.tools
    renamed = replace(view.scenario, tools=(replace(tool, name="read-sensor"),))
    assert status("tools-are-there-after-resume", View(view.transcript, view.dialect, renamed)) is Status.HELD


@pytest.mark.parametrize("other", ["write_sensor", "mcp__session__open_valve"])
def test_another_tool_is_another_one(other: str) -> None:
    def another(found: Any) -> None:
        found["tools"] = [{"name": other, "description": "Another one", "input_schema": {"type": "object"}}]

    assert status("tools-are-there-after-resume", body(2, another)(ran("resumed"))) is Status.VIOLATED


# -- agents that do something in another way -------------------------------------------------------------------------


def unlike(agent: type[StoredAgent]) -> AgentBinding:
    def opened(setup: AgentSetup) -> StoredAgent:
        assert BINDING.open_stateless is not None
        return agent(setup, BINDING.open_stateless(setup.endpoint))

    return with_fields(STORED, open=opened)


class Patient(StoredAgent):
    """Waits with a second turn until the first is over."""

    def __init__(self, *given: Any) -> None:
        self._one_at_a_time = threading.Lock()
        super().__init__(*given)

    def send(self, content: str | Sequence[Part], **how: Any) -> ProviderResponse:
        with self._one_at_a_time:
            return super().send(content, **how)


def test_a_second_turn_may_wait_for_the_first() -> None:
    view = run_of(unlike(Patient), scenario("at_once"))
    (beside,) = view.transcript.of(SaidBeside)
    assert (beside.outcome, beside.text) == ("answer", "Yes, I am here.")
    assert accused(view) == set()
    assert status("one-turn-at-a-time", view) is Status.HELD


class Titling(StoredAgent):
    """Asks the model for a title when a turn is over."""

    def __init__(self, setup: AgentSetup, *given: Any) -> None:
        assert BINDING.open_stateless is not None
        self._titles = BINDING.open_stateless(setup.endpoint)
        super().__init__(setup, *given)

    def send(self, content: str | Sequence[Part], **how: Any) -> ProviderResponse:
        response = super().send(content, **how)
        if response.finish_reason is not FinishReason.CANCELLED:
            self._titles.complete([Message.user("Which title has this conversation?")])
        return response


@pytest.mark.parametrize("name", ["resumed", "resumed_in_place", "denied", "forked", "deleted", "cancelled", "failed"])
def test_an_agent_may_ask_the_model_for_something_beside_the_conversation(name: str) -> None:
    view = run_of(unlike(Titling), scenario(name))
    assert sum("Which title" in str(one.body) for one in view.transcript.of(WireRequest)) >= 2
    assert accused(view) == set()
    if name == "resumed":
        for held_all_the_same in ("resume-brings-back-what-was-said", "results-reach-the-model", "calls-run-once"):
            assert status(held_all_the_same, view) is Status.HELD
    if name in ("cancelled", "failed"):
        assert status(f"{name}-turn-serves-the-next", view) is Status.HELD
