from typing import Any

from turnproof.messages import Message
from turnproof.provider import Binding, Capabilities
from turnproof.subject import SessionReply, SessionSetup, SessionTurn
from turnproof_adapters.peers.agent_binding import bind_agent

WIRE = Binding("wire", "gemini", "gemini-2.5-flash", Capabilities(tools=True), package="a-library")


class Conversation:
    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        return SessionReply(text)

    def history(self) -> list[Message]:
        return []

    def save(self) -> str:
        return "{}"

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Any:
        return cls(setup)


class Child(Conversation):
    def save(self) -> str:
        return "[]"


def test_a_session_can_do_what_its_class_has_a_method_for() -> None:
    session = bind_agent("an-agent", Conversation, wire=WIRE)
    assert (session.name, session.adapter, session.open) == ("an-agent", WIRE, Conversation)
    assert (session.send, session.history, session.save) == (
        Conversation.send,
        Conversation.history,
        Conversation.save,
    )
    assert (session.stop, session.revert, session.close) == (None, None, None)


def test_a_session_claims_what_its_wire_claims() -> None:
    session = bind_agent("an-agent", Conversation, wire=WIRE)
    assert (session.capabilities, session.package) == (Capabilities(tools=True), "a-library")
    assert not session.message_ids


def test_the_methods_of_a_subclass_are_its_own() -> None:
    session = bind_agent("a-child", Child, wire=WIRE)
    assert session.save is Child.save
    assert session.load is not None
    setup: Any = None
    assert isinstance(session.load(setup, "{}"), Child)
