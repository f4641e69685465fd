"""An agent that holds the conversation itself, behind a `ConversationManager`: it is told what is new, and no more."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from parrot import ALL, Parrot

from turnproof.agents import AgentSetup
from turnproof.errors import ProviderError, ResumeError, TransportError, UsageError
from turnproof.messages import Message
from turnproof.provider import Endpoint
from turnproof.session.store import ConversationManager, ConversationRequest, converse_with
from turnproof.sessions import SessionCapabilities

from .kit import FOLDER, Echo, ticking
from .simfiles import SimFiles
from .test_fifo import started

CLI, ACP, HEADLESS = "claude-cli/sonnet", "codex-acp/gpt-5.5", "gemini-cli/gemini-2.5-flash"


@pytest.fixture
def agent(tmp_path: Path) -> Parrot:
    return parrot(tmp_path)


def parrot(home: Path, can: SessionCapabilities = ALL) -> Parrot:
    return Parrot(AgentSetup(Endpoint("http://127.0.0.1:1", "key", "m"), str(home), "/w"), can)


def conversations(agent: Any, files: SimFiles | None = None) -> ConversationManager:
    ids = count(1)
    return ConversationManager(
        FOLDER,
        converse_with(agent),
        files=files or SimFiles(),
        clock=ticking(),
        ids=lambda: f"req_{next(ids)}",
        program="test",
    )


@pytest.mark.parametrize("model", [CLI, ACP, "claude-acp/opus", "gemini-acp/pro"])
def test_an_agent_is_sent_what_is_new_in_its_own_session_and_no_history(agent: Parrot, model: str) -> None:
    manager = conversations(agent)
    for text in ("one", "two", "three"):
        manager.request("talk", model, text)
    first = "s1-aaaaaa"
    assert agent.sent == [(None, "one"), (first, "two"), (first, "three")]
    assert agent.resumed == [], "it was open all the time"
    assert [message.text for message in agent.history][::2] == ["one", "two", "three"]


def test_a_new_conversation_begins_a_new_session_whatever_was_open(agent: Parrot) -> None:
    agent.send("of somebody else")
    conversations(agent).request("talk", CLI, "hello")
    assert agent.session_id == "s2-bbbbbb"
    assert [message.text for message in agent.history] == ["hello", "You said: hello"]


def test_after_a_restart_the_session_is_resumed_and_told_the_new_message_alone(tmp_path: Path) -> None:
    files = SimFiles()
    with conversations(parrot(tmp_path), files) as manager:
        manager.request("talk", CLI, "one")
    later = parrot(tmp_path)
    with conversations(later, files) as manager:
        manager.request("talk", CLI, "two")
    assert (later.resumed, later.sent) == (["s1-aaaaaa"], [("s1-aaaaaa", "two")])


def test_two_conversations_over_one_agent_take_turns_and_never_mix(agent: Parrot) -> None:
    manager = conversations(agent)

    def talk(name: str) -> None:
        for number in range(6):
            manager.request(name, CLI, f"{name} {number}")

    for thread in [started(lambda name=name: talk(name)) for name in ("tea", "coffee")]:  # type: ignore[misc]
        thread.join(60)
    for name in ("tea", "coffee"):
        texts = [f"{name} {number}" for number in range(6)]
        assert [message.text for message in manager.messages(name)[::2]] == texts
        sessions = {session for session, text in agent.sent if text.startswith(name) and session}
        assert len(sessions) == 1
        agent.resume_session(sessions.pop())
        assert [message.text for message in agent.history][::2] == texts


def test_a_session_that_is_gone_is_a_resume_error_and_the_next_request_begins_anew(agent: Parrot) -> None:
    manager = conversations(agent)
    manager.request("talk", CLI, "one")
    manager.request("other", CLI, "else")
    agent.delete_session("s1-aaaaaa")
    with pytest.raises(ResumeError, match="no conversation found") as failure:
        manager.request("talk", CLI, "two")
    assert failure.value.session_id == "s1-aaaaaa"
    assert agent.session_id == "s2-bbbbbb", "what is open stays open"
    manager.request("talk", CLI, "three")
    assert agent.sent[-1] == (None, "three")


def test_an_agent_that_cannot_resume_says_so_as_a_resume_error(tmp_path: Path) -> None:
    agent = parrot(tmp_path, SessionCapabilities())
    manager = conversations(agent)
    manager.request("talk", CLI, "one")
    manager.request("talk", CLI, "two")
    manager.request("other", CLI, "else")
    with pytest.raises(ResumeError, match="'s1-aaaaaa' cannot be gone on with: Parrot cannot resume a session"):
        manager.request("talk", CLI, "three")
    assert [text for _, text in agent.sent] == ["one", "two", "else"]


def test_a_turn_that_fails_leaves_nothing_in_the_conversation_and_keeps_its_session(agent: Parrot) -> None:
    manager = conversations(agent)
    manager.request("talk", CLI, "one")
    with pytest.raises(TransportError):
        manager.request("talk", CLI, "fail")
    manager.request("talk", CLI, "two")
    assert [message.text for message in manager.messages("talk")[::2]] == ["one", "two"]
    assert agent.sent[-1] == ("s1-aaaaaa", "two")


def test_a_first_turn_that_fails_leaves_nothing_to_the_next_attempt(agent: Parrot) -> None:
    calls: list[None] = []
    real = agent.new_session
    agent.new_session = lambda: (calls.append(None), real())[1]  # type: ignore[method-assign, func-returns-value]
    manager = conversations(agent)
    with pytest.raises(TransportError):
        manager.request("talk", CLI, "fail")
    manager.request("talk", CLI, "one")
    assert len(calls) == 2


def test_an_agent_that_is_taken_for_stateless_is_not_sent_a_history(agent: Parrot) -> None:
    manager = conversations(agent)
    manager.request("talk", HEADLESS, "one")
    with pytest.raises(UsageError, match=r"brings 3: .*Register the models of 'gemini-cli' as stateful"):
        manager.request("talk", HEADLESS, "two")
    assert [text for _, text in agent.sent] == ["one"]


def test_an_agent_that_never_tells_its_session_is_refused_and_not_silently_lost(agent: Parrot) -> None:
    class Nameless(Parrot):
        @property
        def session_id(self) -> None:
            return None

    nameless = Nameless(agent.setup)
    with pytest.raises(ProviderError, match="Nameless tells no session id after a turn"):
        converse_with(nameless)(ConversationRequest(CLI, (Message.user("one"),), None, "r"))


def test_a_conversation_goes_from_a_provider_of_ours_to_an_agent_and_back(agent: Parrot) -> None:
    from turnproof.session.store import complete_with

    echo, files = Echo(), SimFiles()
    ours, theirs = complete_with(echo), converse_with(agent)
    manager = ConversationManager(
        FOLDER, lambda request: (theirs if request.model == CLI else ours)(request), files=files, clock=ticking()
    )
    for model, text in ((HEADLESS, "one"), (CLI, "two"), (HEADLESS, "three"), (CLI, "four")):
        manager.request("talk", model, text)
    assert agent.sent == [(None, "two"), ("s1-aaaaaa", "four")]
    assert [[message.text for message in request][::2] for request in echo.requests] == [
        ["one"],
        ["one", "two", "three"],
    ]
