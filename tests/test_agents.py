"""Agents: what a binding refuses, how one is a session to be certified, and by which names it is found."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import parrot
import pytest
from parrot import ALL, START, Parrot

from turnproof.agents import AgentBinding, Tool
from turnproof.cancel import CancelToken
from turnproof.commands.cli import catalogues
from turnproof.errors import BindingError
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, TokenUsage, ToolSchema
from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.run import bindings
from turnproof.run.bindings import (
    agent_names,
    resolve_agent,
    resolve_binding,
    resolve_session,
    resolve_subject,
    subject_of,
)
from turnproof.session.delegated import session_of
from turnproof.sessions import SessionCapabilities
from turnproof.subject import SessionReply, SessionSetup, SessionTurn

ENDPOINT = Endpoint("http://127.0.0.1:1", "key", "m")
LOOK = Tool(ToolSchema("look", "", {}), lambda args, token: None)


def setup(home: Path, **more: Any) -> SessionSetup:
    """What turnproof opens a session with."""
    return SessionSetup(
        endpoint=ENDPOINT,
        open_provider=lambda path: pytest.fail("an agent asks its own model"),
        paths=(),
        path=None,
        sleep=lambda seconds, token: False,
        random=random.Random(0),
        ids=lambda: "m",
        on_tool=lambda call, result: None,
        on_retry=lambda attempt, seconds, error: None,
        home=str(home),
        cwd="/w",
        **more,
    )


# -- the binding -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wrong:
    """A field, and what it must not be."""

    field: str
    value: Any
    says: str

    @property
    def id(self) -> str:
        return f"{self.field}={self.value!r}"


WRONG = [
    Wrong("name", "", "name is '', not a word"),
    Wrong("name", None, "name is None, not a word"),
    Wrong("dialect", 3, "dialect is 3, not a word"),
    Wrong("model", "", "model is '', not a word"),
    Wrong("open", "parrot:open", "open is 'parrot:open', not a function"),
    Wrong("capabilities", {"tools": True}, "capabilities is {'tools': True}, not Capabilities"),
    Wrong("sessions", ("can_list",), r"sessions is \('can_list',\), not SessionCapabilities"),
    Wrong("sessions", Capabilities(), "sessions is Capabilities.*, not SessionCapabilities"),
    Wrong("options", ["a"], r"options is \['a'\], not a mapping"),
    Wrong("program", "Some Code 2.1", "program is 'Some Code 2.1', not a function"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=attrgetter("id"))
def test_a_field_that_is_not_what_it_is_for_is_refused_where_it_is_written(wrong: Wrong) -> None:
    with pytest.raises(BindingError, match=f"agent binding .*: {wrong.says}"):
        dataclasses.replace(parrot.AGENT, **{wrong.field: wrong.value})


# -- as a session that is certified ------------------------------------------------------------------------------

STEPS = {
    "can_list": "list_sessions",
    "can_load": "resume_session",
    "can_continue_last": "continue_last",
    "can_fork": "fork_session",
    "can_delete": "delete_session",
}


@pytest.mark.parametrize(("claim", "operation"), STEPS.items())
def test_of_its_sessions_only_what_is_claimed_can_be_asked(claim: str, operation: str) -> None:
    one = parrot.binding(SessionCapabilities(**{claim: True}))
    assert session_of(one).operations & set(STEPS.values()) == {operation}


def test_whoever_claims_nothing_of_its_sessions_can_still_begin_one_and_say_which_it_is() -> None:
    session = session_of(parrot.FORGETFUL)
    assert not session.operations & set(STEPS.values())
    assert {"new_session", "session_id", "send_parts", "usage"} <= session.operations
    assert session.session_capabilities is not None


def test_every_claim_about_sessions_has_its_operation() -> None:
    assert {field.name for field in dataclasses.fields(SessionCapabilities)} == set(STEPS)


def test_the_agent_is_opened_with_all_that_the_setup_has_for_it(tmp_path: Path) -> None:
    def no(call: Any) -> bool:
        return False

    expected = setup(tmp_path, system="be brief", tools=(LOOK,), session="s", continue_last=True, permits=no)
    opened = session_of(parrot.AGENT).open(expected).agent.setup
    assert (opened.endpoint, opened.home, opened.cwd) == (ENDPOINT, str(tmp_path), "/w")
    assert (opened.system, opened.tools) == ("be brief", (LOOK,))
    assert (opened.session, opened.continue_last, opened.permits) == ("s", True, no)


def test_a_turn_is_the_agents_own_and_its_usage_that_of_the_last_turn(tmp_path: Path) -> None:
    session = session_of(parrot.AGENT)
    handle = session.open(setup(tmp_path))
    assert session.usage is not None
    assert session.usage(handle) == TokenUsage()
    chunks: list[str] = []
    reply = session.send(handle, "hello there", SessionTurn(CancelToken(), on_chunk=chunks.append))
    assert reply == SessionReply("You said: hello there")
    assert "".join(chunks) == reply.text
    assert [message.text for message in session.history(handle)] == ["hello there", "You said: hello there"]
    assert session.usage(handle) == TokenUsage(3, 2, 5)


def test_a_streamed_turn_asks_for_calls_too_and_one_in_one_piece_for_no_callback(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []

    class RecordingParrot(Parrot):
        def send(self, content: Any, **options: Any) -> ProviderResponse:
            calls.append({name: value for name, value in options.items() if value is not None})
            return ProviderResponse((Text("so"),), TokenUsage(), FinishReason.STOP)

    session = session_of(AgentBinding("noted", "anthropic-messages", "m", RecordingParrot))
    handle, token = session.open(setup(tmp_path)), CancelToken()
    session.send(handle, "one", SessionTurn(token))
    session.send(handle, "two", SessionTurn(token, on_chunk=print, response_schema={"type": "object"}))
    assert calls[0] == {"cancel_token": token}
    assert sorted(calls[1]) == ["cancel_token", "on_chunk", "on_function_call", "response_schema"]


def test_a_cancelled_turn_is_told_as_one(tmp_path: Path) -> None:
    session = session_of(parrot.AGENT)
    handle, token = session.open(setup(tmp_path)), CancelToken()

    def hear(chunk: str) -> None:
        if chunk == "was":
            token.cancel()

    assert session.send(handle, "wait", SessionTurn(token, on_chunk=hear)) == SessionReply("I was", "cancelled")


def test_its_sessions_are_listed_on_every_page_and_taken_up_forked_and_deleted(tmp_path: Path) -> None:
    session = session_of(parrot.AGENT)
    handle = session.open(setup(tmp_path))
    turn = SessionTurn(CancelToken())
    for text in ("one", "two", "three"):
        session.send(handle, text, turn)
        session.new_session(handle)  # type: ignore[misc]
    assert session.session_id(handle) is None  # type: ignore[misc]
    listed = session.list_sessions(handle, "/w")  # type: ignore[misc]
    assert [(one.title, one.updated_at) for one in listed] == [
        (text, START.replace(minute=number)) for number, text in enumerate(("one", "two", "three"), 1)
    ]
    assert session.continue_last(handle, "/w") == listed[2].session_id  # type: ignore[misc]
    session.resume_session(handle, listed[0].session_id)  # type: ignore[misc]
    copy = session.fork_session(handle)  # type: ignore[misc]
    assert [message.text for message in session.history(handle)] == ["one", "You said: one"]
    session.delete_session(handle, copy)  # type: ignore[misc]
    assert copy not in [one.session_id for one in session.list_sessions(handle, None)]  # type: ignore[misc]
    assert session.session_capabilities(handle) == ALL  # type: ignore[misc]


def test_the_program_behind_it_is_asked_for_its_name_where_the_binding_says_how(tmp_path: Path) -> None:
    binding = dataclasses.replace(parrot.binding(), program=lambda agent: f"Parrot {agent.session_id}")
    session = session_of(binding)
    assert session.program is not None
    assert session.program(session.open(setup(tmp_path))) == "Parrot None"
    assert session_of(parrot.binding()).program is None


def test_closing_it_shuts_the_agent_down(tmp_path: Path) -> None:
    ended: list[Message | None] = []

    class Ending(Parrot):
        def shutdown(self) -> None:
            ended.append(None)

    session = session_of(AgentBinding("ending", "anthropic-messages", "m", Ending))
    assert session.close is not None
    session.close(session.open(setup(tmp_path)))
    assert len(ended) == 1


# -- by name -----------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parrot among the installed agents, and one that is broken."""
    from importlib.metadata import EntryPoint

    real = bindings._installed
    ours = {
        name: EntryPoint(name, value, bindings.AGENTS)
        for name, value in {"parrot": "parrot:AGENT", "adrift": "parrot:NOBODY"}.items()
    }
    monkeypatch.setattr(
        bindings,
        "_installed",
        lambda *groups: {**real(*groups), **(ours if bindings.AGENTS in groups else {})},
    )


@pytest.mark.usefixtures("installed")
def test_an_agent_is_found_by_name_and_with_another_model() -> None:
    assert {"parrot", "adrift"} <= set(agent_names())
    assert resolve_agent("parrot") is parrot.AGENT
    assert resolve_agent("parrot:AGENT") is parrot.AGENT
    for name in ("parrot=other", "parrot:AGENT=other"):
        found = resolve_agent(name)
        assert (found.name, found.model, found.open) == (name, "other", parrot.AGENT.open)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("parot", "unknown agent 'parot'; did you mean 'parrot'?"),
        ("anthropic", "unknown agent 'anthropic'"),
        ("parrot=", "'parrot=': the model behind the = is missing"),
        ("parrot:NOBODY", "parrot has no attribute 'NOBODY'"),
        ("parrot:AGNT", "parrot has no attribute 'AGNT'; did you mean 'AGENT'"),
        ("parrot:ALL", "is a SessionCapabilities, not a turnproof.provider.Binding"),
        (
            "turnproof.session.binding:REFERENCE",
            "'turnproof.session.binding:REFERENCE' is a SessionBinding, not a turnproof.agents.AgentBinding",
        ),
    ],
)
def test_every_mistake_is_one_clear_line(name: str, says: str) -> None:
    with pytest.raises(BindingError) as failure:
        resolve_agent(name)
    assert says in str(failure.value)
    assert "\n" not in str(failure.value)


@pytest.mark.usefixtures("installed")
def test_an_agent_is_a_subject_that_asks_its_model_itself() -> None:
    subject = resolve_subject("parrot")
    assert (subject.kind, subject.name, subject.dialect) == ("agent", "parrot", "anthropic-messages")
    assert subject.adapter.delegated
    assert [subject.adapter.opener(path) for path in ("stateless", "legacy")] == [None, None]
    assert subject.paths == ("legacy",)
    other = resolve_subject("parrot=other")
    assert (other.kind, other.name, other.model) == ("agent", "parrot=other", "other")
    assert resolve_subject("parrot:AGENT").session.name == subject_of(parrot.AGENT).session.name


def test_what_an_agent_claims_and_needs_is_its_adapters_too() -> None:
    able = Capabilities(streaming=True, tools=True)
    options = {"max_tokens": 9}
    adapter = subject_of(parrot.binding(capabilities=able, options=options, package="some-agent")).adapter
    assert isinstance(adapter, Binding)
    assert (adapter.claims(), adapter.options, adapter.package) == (able, options, "some-agent")
    assert subject_of(parrot.binding(package="some-agent")).packages == ("some-agent",)


def test_an_agent_is_neither_an_adapter_nor_a_session() -> None:
    with pytest.raises(BindingError, match=r"is a AgentBinding, not a turnproof\.provider\.Binding"):
        resolve_binding("parrot:AGENT")
    with pytest.raises(BindingError, match=r"is a AgentBinding, not a turnproof\.subject\.SessionBinding"):
        resolve_session("parrot:AGENT")


@pytest.mark.usefixtures("installed")
def test_agents_are_listed_with_what_they_can_and_a_broken_one_hides_no_other() -> None:
    rows = {row["name"]: row for row in catalogues._agents()}
    assert rows["parrot"] == {
        "name": "parrot",
        "dialect": "anthropic-messages",
        "model": "claude-haiku-4-5",
        "sessions": ["list", "load", "continue last", "delete", "fork"],
    }
    assert "has no attribute 'NOBODY'" in rows["adrift"]["problem"]
