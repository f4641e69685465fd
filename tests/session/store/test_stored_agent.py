"""The reference session as an agent: what is said in it stays in files, and the next process goes on with it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turnproof.agents import AgentSetup, Tool
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, OverloadedError, ResumeError, UsageError
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage, ToolSchema
from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.session.store.agent import StoredAgent, stored_agent
from turnproof.session.store.client import CAN

from .test_fifo import started

PUMP = ToolSchema("pump", "Start the pump", {"type": "object", "properties": {}})


class Echo:
    """A model that answers with how often the user has spoken, after one call of each tool it has."""

    def __init__(self) -> None:
        self.requests: list[Sequence[Message]] = []
        self.settings: list[tuple[Any, Sequence[ToolSchema]]] = []
        self.shut = 0
        self.failing = False

    def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **_: Any
    ) -> ProviderResponse:
        self.requests.append(tuple(messages))
        self.settings.append((system_instruction, tuple(tools or ())))
        if self.failing:
            raise OverloadedError("too much to do")
        usage = TokenUsage(10, 2, 12)
        if tools and messages[-1].role == "user":
            return ProviderResponse((FunctionCall("c1", "pump", {}),), usage, FinishReason.TOOL_USE)
        count = sum(message.role == "user" for message in messages)
        return ProviderResponse((Text(f"{count} times"),), usage, FinishReason.STOP)

    def shutdown(self) -> None:
        self.shut += 1


def setup(root: Path, **more: Any) -> AgentSetup:
    return AgentSetup(Endpoint("http://127.0.0.1:9", "k", "m"), str(root / "home"), str(root), **more)


def agent(root: Path, provider: Echo | None = None, **more: Any) -> StoredAgent:
    return StoredAgent(setup(root, **more), provider or Echo())


def test_what_was_said_is_there_for_the_next_process(tmp_path: Path) -> None:
    first = agent(tmp_path)
    assert first.session_id is None
    assert first.send("Good morning.").text == "1 times"
    first.shutdown()
    again = agent(tmp_path, session=first.session_id)
    assert [message.text for message in again.history] == ["Good morning.", "1 times"]
    assert again.send("And again.").text == "2 times"
    assert again.session_id == first.session_id


def test_a_session_that_is_open_may_be_resumed_and_stays_as_it_is(tmp_path: Path) -> None:
    opened_agent = agent(tmp_path)
    opened_agent.send("Good morning.")
    assert opened_agent.session_id is not None
    opened_agent.resume_session(opened_agent.session_id)
    assert opened_agent.send("Still here?").text == "2 times"


def test_a_session_that_is_open_may_be_resumed_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    def meanwhile(args: Any, token: CancelToken) -> None:
        if len(opened_agent.history) > 2:
            assert opened_agent.session_id is not None
            opened_agent.resume_session(opened_agent.session_id)
            resumed.append(opened_agent.session_id)

    resumed: list[str] = []
    opened_agent = agent(tmp_path, tools=(Tool(PUMP, meanwhile),))
    opened_agent.send("Good morning.")
    assert opened_agent.send("And again.").text == "2 times"
    assert resumed == [opened_agent.session_id]


def test_one_that_is_gone_is_refused_and_opening_with_it_begins_anew(tmp_path: Path) -> None:
    opened_agent = agent(tmp_path, session="nobody")
    opened_agent.send("Good morning.")
    before = opened_agent.session_id
    with pytest.raises(ResumeError, match="nobody"):
        opened_agent.resume_session("nobody")
    assert opened_agent.session_id == before
    assert len(opened_agent.history) == 2


def test_the_last_session_of_the_folder_is_gone_on_with(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    other = StoredAgent(replace(setup(tmp_path), cwd=str(elsewhere)), Echo())
    other.send("In another folder.")
    other.shutdown()
    assert agent(tmp_path, continue_last=True).history == []
    opened_agent = agent(tmp_path)
    opened_agent.send("In this one.")
    opened_agent.shutdown()
    assert agent(tmp_path, continue_last=True).history[0].text == "In this one."


def test_a_session_that_is_taken_up_has_the_system_text_and_tools_of_who_took_it_up(tmp_path: Path) -> None:
    first = agent(tmp_path, system="Be brief.")
    first.send("Good morning.")
    first.shutdown()
    provider = Echo()
    tool = Tool(PUMP, lambda args, token: None)
    again = agent(tmp_path, provider, system="Be kind.", tools=(tool,), session=first.session_id)
    assert again.send("And again.").text == "2 times"
    again.fork_session()
    again.send("In the copy.")
    assert provider.settings == [("Be kind.", (PUMP,))] * 4


def test_what_is_begun_belongs_to_the_folder_of_the_agent_wherever_the_session_before_did(tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    other = StoredAgent(replace(setup(tmp_path), cwd=elsewhere), Echo())
    other.send("In another folder.")
    other.shutdown()
    opened_agent = agent(tmp_path, session=other.session_id)
    opened_agent.new_session()
    opened_agent.send("In this one.")
    assert [info.session_id for info in opened_agent.list_sessions(cwd=str(tmp_path)).sessions] == [
        opened_agent.session_id
    ]
    assert other.session_id is not None
    opened_agent.resume_session(other.session_id)
    opened_agent.delete_session(other.session_id)
    opened_agent.send("In this one, too.")
    assert opened_agent.list_sessions(cwd=elsewhere).sessions == ()
    assert len(opened_agent.list_sessions(cwd=str(tmp_path)).sessions) == 2


def test_a_fork_goes_its_own_way(tmp_path: Path) -> None:
    opened_agent = agent(tmp_path)
    opened_agent.send("Common ground.")
    origin = opened_agent.session_id
    copy = opened_agent.fork_session()
    assert copy != origin
    opened_agent.send("Only here.")
    assert origin is not None
    opened_agent.resume_session(origin)
    assert [message.text for message in opened_agent.history if message.role == "user"] == ["Common ground."]


def test_a_deleted_session_is_gone_and_the_next_message_begins_another(tmp_path: Path) -> None:
    opened_agent = agent(tmp_path)
    opened_agent.send("Forget this.")
    deleted_id = opened_agent.session_id
    assert deleted_id is not None
    opened_agent.delete_session(deleted_id)
    assert opened_agent.session_id is None
    assert opened_agent.list_sessions().sessions == ()
    assert opened_agent.send("A new one.").text == "1 times"
    assert opened_agent.session_id != deleted_id


def test_tools_run_here_and_the_figures_are_those_of_the_whole_turn(tmp_path: Path) -> None:
    runs: list[Any] = []
    opened_agent = agent(tmp_path, tools=(Tool(PUMP, lambda args, token: runs.append(args)),))
    response = opened_agent.send("Start it.")
    assert runs == [{}]
    assert response.calls == ()
    assert response.usage == TokenUsage(20, 4, 24)


def test_a_tool_that_is_not_permitted_does_not_run_and_the_turn_goes_on(tmp_path: Path) -> None:
    runs: list[Any] = []
    tool = Tool(PUMP, lambda args, token: runs.append(args))
    opened_agent = agent(tmp_path, tools=(tool,), permits=lambda call: call.name != "pump")
    assert opened_agent.send("Start it.").text == "1 times"
    assert runs == []


def test_a_failed_turn_leaves_nothing_and_a_cancelled_one_says_so(tmp_path: Path) -> None:
    provider = Echo()
    opened_agent = agent(tmp_path, provider)
    opened_agent.send("Good morning.")
    provider.failing = True
    with pytest.raises(OverloadedError):
        opened_agent.send("Too much.")
    assert len(opened_agent.history) == 2
    provider.failing = False
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        opened_agent.send("Never mind.", cancel_token=token)
    assert len(opened_agent.history) == 2
    opened_agent.new_session()
    with pytest.raises(Cancelled):
        opened_agent.send("Never mind.", cancel_token=token)
    assert len(opened_agent.list_sessions().sessions) == 1


def test_a_second_turn_is_refused_while_one_runs(tmp_path: Path) -> None:
    outcomes: list[str] = []

    def meanwhile(args: Any, token: CancelToken) -> str:
        with pytest.raises(UsageError, match="a turn is running"):
            opened_agent.send("At the same time.")
        outcomes.append("refused")
        return "done"

    opened_agent = agent(tmp_path, tools=(Tool(PUMP, meanwhile),))
    opened_agent.send("Start it.")
    assert outcomes == ["refused"]


def test_a_turn_that_runs_at_the_end_is_cancelled_and_stored(tmp_path: Path) -> None:
    at_work = threading.Event()
    answers: list[ProviderResponse] = []

    def long(args: Any, token: CancelToken) -> None:
        at_work.set()
        token.wait(60)
        token.raise_if_cancelled()

    opened_agent = agent(tmp_path, tools=(Tool(PUMP, long),))
    opened_agent._manager._sessions._patience = 60  # a turn that takes longer to stop is left behind
    turn = started(lambda: answers.append(opened_agent.send("Start it.")))
    at_work.wait(60)
    opened_agent.shutdown()
    turn.join(60)
    assert [one.finish_reason for one in answers] == [FinishReason.CANCELLED]
    (info,) = opened_agent.list_sessions().sessions
    assert agent(tmp_path, session=info.session_id).history[0].text == "Start it."


def test_an_adapter_is_bound_as_an_agent_and_shut_down_with_it(tmp_path: Path) -> None:
    provider = Echo()
    binding = Binding("echo", "anthropic-messages", "m", Capabilities(tools=True), open_stateless=lambda at: provider)
    bound = stored_agent(binding)
    assert (bound.name, bound.sessions, bound.capabilities.tools) == ("stored_echo", CAN, True)
    bound.open(setup(tmp_path)).shutdown()
    assert provider.shut == 1
    with pytest.raises(UsageError, match="no stateless path"):
        stored_agent(replace(binding, open_stateless=None))
