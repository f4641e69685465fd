"""Sessions whose children are told what is their parent's business, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from turnproof.errors import ProviderError
from turnproof.messages import Message
from turnproof.subject import SessionReply, SessionTurn

from ._mutant import suite_mutant
from ._session import BrokenSession


@suite_mutant("child-begins-with-a-copy")
class ChildBeginsWithACopy(BrokenSession):
    """A child goes on from what its parent holds."""

    def spawn(self) -> BrokenSession:
        child = super().spawn()
        self.operation("adopt")(child.handle, self.history())
        return child


class _Family(BrokenSession):
    """Knows whose child it is, what its children were told since its own last turn, and how one of them failed."""

    parent: _Family | None = None
    failure: ProviderError | None = None
    received_messages: tuple[Message, ...] = ()

    def spawn(self) -> BrokenSession:
        child = super().spawn()
        assert isinstance(child, _Family)
        child.parent = self
        return child

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self.received_messages = ()
        if self.parent is not None:
            self.parent.received_messages += (Message.user(text),)
        return super().send(text, turn)


@suite_mutant("child-heard-by-its-parent")
class ChildHeardByItsParent(_Family):
    """What a child is told stands in its parent's history, until the parent's next turn."""

    def history(self) -> Sequence[Message]:
        return [*super().history(), *self.received_messages]


@suite_mutant("child-forgets")
class ChildForgets(_Family):
    """A child has forgotten its first turn when it is told something else."""

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        if self.parent is not None:
            self.do("reset")
        return super().send(text, turn)


@suite_mutant("child-failure-is-an-empty-answer")
class ChildFailureIsAnEmptyAnswer(_Family):
    """A child that fails has said nothing."""

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        try:
            return super().send(text, turn)
        except ProviderError:
            if self.parent is None:
                raise
            return SessionReply("")


@suite_mutant("child-failure-ends-its-parent")
class ChildFailureEndsItsParent(_Family):
    """The failure of a child is kept, and raised again in its parent's next turn."""

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        try:
            return super().send(text, turn)
        except ProviderError as error:
            if self.parent is not None:
                self.parent.failure = error
            raise
