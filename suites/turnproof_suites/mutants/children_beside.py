"""Sessions that go wrong while a child is under way beside its parent, or beside another child."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.errors import TransportError
from turnproof.subject import SessionReply, SessionSetup, SessionTurn

from ._mutant import suite_mutant
from ._session import BrokenSession


class _Family(BrokenSession):
    """Knows which turns of the family are under way, each with its token, and what was answered last."""

    parent: _Family | None = None

    def open_handle(self, setup: SessionSetup) -> Any:
        self.under_way: list[tuple[_Family, str, CancelToken]] = []
        self.replies: list[SessionReply] = []
        self.lock = threading.Lock()
        return super().open_handle(setup)

    def spawn(self) -> BrokenSession:
        child = super().spawn()
        assert isinstance(child, _Family)
        child.parent = self
        return child

    def others(self) -> list[str]:
        """What those were told whose turns are under way, beside this one's."""
        return [text for session, text, _ in self.under_way if session is not self]

    @property
    def in_a_tool(self) -> bool:
        """Whether this is a child, and its parent's turn is under way."""
        return any(session is self.parent for session, _, _ in self.under_way)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        entry = (self, text, turn.cancel_token)
        self.under_way.append(entry)
        try:
            reply = self.say(text, turn)
        finally:
            self.under_way.remove(entry)
        self.replies.append(reply)
        return reply

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        """The turn itself."""
        return super().send(text, turn)


@suite_mutant("child-in-a-tool-is-refused")
class ChildInAToolIsRefused(_Family):
    """A child cannot be spoken to while its parent has a turn."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().say(text, turn)
        if self.in_a_tool:
            raise TransportError("the client is in use")
        return reply


@suite_mutant("child-in-a-tool-says-nothing")
class ChildInAToolSaysNothing(_Family):
    """What a child answers to a tool is lost."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().say(text, turn)
        return replace(reply, text="") if self.in_a_tool else reply


@suite_mutant("child-in-a-tool-gets-the-question")
class ChildInAToolGetsTheQuestion(_Family):
    """A child that a tool asks is also told what the user asked its parent."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        return super().say("\n".join((*self.others(), text)) if self.in_a_tool else text, turn)


@suite_mutant("child-ignores-its-parents-cancel")
class ChildIgnoresItsParentsCancel(_Family):
    """A child that a tool asks works on when its parent's turn is cancelled."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        return super().say(text, replace(turn, cancel_token=CancelToken()) if self.in_a_tool else turn)


@suite_mutant("cancelled-child-asks-again")
class CancelledChildAsksAgain(_Family):
    """A child whose answer is cancelled takes that for a fault that may pass, and asks once more."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().say(text, turn)
        if self.parent is not None and reply.outcome == "cancelled":
            return super().say(text, replace(turn, cancel_token=CancelToken()))
        return reply


@suite_mutant("children-mix-their-tasks")
class ChildrenMixTheirTasks(_Family):
    """A child is also told what another one works on."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        return super().say("\n".join((*self.others(), text)), turn)


@suite_mutant("children-mix-their-answers")
class ChildrenMixTheirAnswers(_Family):
    """A child returns what another one was answered meanwhile."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        before = len(self.replies)
        reply = super().say(text, turn)
        return self.replies[before] if len(self.replies) > before else reply


@suite_mutant("children-work-one-by-one")
class ChildrenWorkOneByOne(_Family):
    """One child works at a time, and the others wait."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        if self.parent is None:
            return super().say(text, turn)
        with self.lock:
            return super().say(text, turn)


@suite_mutant("child-holds-up-its-parent")
class ChildHoldsUpItsParent(_Family):
    """One member of the family is spoken to at a time, the parent like its children."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        with self.lock:
            return super().say(text, turn)


@suite_mutant("child-ends-with-its-parents-turn")
class ChildEndsWithItsParentsTurn(_Family):
    """The end of a turn cancels the children that are at work."""

    def say(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().say(text, turn)
        for session, _, token in self.under_way if self.parent is None else ():
            if session is not self:
                token.cancel()
        return reply
