"""Sessions whose children are told what is their parent's business, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from turnproof.messages import Message
from turnproof.subject import SessionReply, SessionTurn

from ._mutant import mutant
from ._session import BrokenSession


@mutant(
    "child-begins-with-a-copy",
    "session",
    caught_by="subagents/child-begins-empty",
    scenarios="subagents/child",
    sources="behaviours:M1",
)
class ChildBeginsWithACopy(BrokenSession):
    """A child goes on from what its parent holds."""

    def spawn(self) -> BrokenSession:
        child = super().spawn()
        self.the("adopt")(child.handle, self.history())
        return child


@mutant(
    "child-heard-by-its-parent",
    "session",
    caught_by="subagents/parent-is-untouched",
    scenarios="subagents/child",
    sources="behaviours:M1",
)
class ChildHeardByItsParent(BrokenSession):
    """What a child is told stands in its parent's history as well."""

    parent: ChildHeardByItsParent | None = None
    heard: tuple[Message, ...] = ()

    def spawn(self) -> BrokenSession:
        child = super().spawn()
        assert isinstance(child, ChildHeardByItsParent)
        child.parent = self
        return child

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        if self.parent is not None:
            self.parent.heard += (Message.user(text),)
        return super().send(text, turn)

    def history(self) -> Sequence[Message]:
        return [*super().history(), *self.heard]


@mutant(
    "child-forgets",
    "session",
    caught_by="subagents/child-keeps-its-own",
    scenarios="subagents/child",
    sources="behaviours:M1",
)
class ChildForgets(BrokenSession):
    """A child has forgotten its first turn when it is told something else."""

    is_child = False

    def spawn(self) -> BrokenSession:
        child = super().spawn()
        assert isinstance(child, ChildForgets)
        child.is_child = True
        return child

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        if self.is_child:
            self.do("reset")
        return super().send(text, turn)
