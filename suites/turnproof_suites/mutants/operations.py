"""Sessions that do something else than they are told: on reset, revert, collect, load and swap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.gc import turn_starts
from turnproof.messages import Message
from turnproof.subject import SessionBinding, SessionSetup, SessionTurn

from ._mutant import suite_mutant
from ._session import BrokenSession


@suite_mutant("reset-keeps-a-turn")
class ResetKeepsATurn(BrokenSession):
    """A reset goes back to the first turn instead of to the beginning."""

    def reset(self) -> None:
        self.do("revert", 0)


@suite_mutant("reset-tells-the-model")
class ResetTellsTheModel(BrokenSession):
    """Before it forgets the conversation, the session tells the model so."""

    def reset(self) -> None:
        self.inner.send(self.handle, "Forget all that.", SessionTurn(CancelToken()))
        self.do("reset")


@suite_mutant("revert-a-turn-too-far")
class RevertATurnTooFar(BrokenSession):
    """Going back to a turn forgets that turn as well."""

    def revert(self, turn_index: int) -> None:
        self.do("revert", turn_index)
        if turn_index:
            self.do("revert", turn_index - 1)


@suite_mutant("revert-out-of-range-passes")
class RevertOutOfRangePasses(BrokenSession):
    """Going back to a turn that is not there goes back to the last one."""

    def revert(self, turn_index: int) -> None:
        self.do("revert", min(turn_index, len(turn_starts(self.history())) - 1))


@suite_mutant("newest-turn-collected")
class NewestTurnCollected(BrokenSession):
    """A collection drops the newest turn."""

    def collect(self) -> None:
        self.do("revert", len(turn_starts(self.history())) - 2)


@suite_mutant("damaged-session-begun-anew")
class DamagedSessionBegunAnew(BrokenSession):
    """A saved session that cannot be read is taken for an empty one."""

    def load_handle(self, setup: SessionSetup, saved: str) -> Any:
        try:
            return super().load_handle(setup, saved)
        except Exception:
            return self.open_handle(setup)


@suite_mutant("swap-begins-anew")
class SwapBeginsAnew(BrokenSession):
    """With another provider the session takes over what that one holds: nothing."""

    def swap(self, provider: Any) -> None:
        self.do("swap", provider)
        self.do("reset")


@suite_mutant("provider-a-message-behind")
class ProviderAMessageBehind(BrokenSession):
    """The provider does not hold the newest message."""

    def provider_history(self) -> Sequence[Message]:
        messages: Sequence[Message] = self.do("provider_history")
        return messages[:-1]


@suite_mutant("other-path-begins-anew")
class OtherPathBeginsAnew(BrokenSession):
    """A session that was saved on the other path is one of another program, and is left alone."""

    def __init__(self, inner: SessionBinding, setup: SessionSetup, saved: str | None = None) -> None:
        self._path = setup.path
        super().__init__(inner, setup, saved)

    def save(self) -> str:
        return f"{self._path} {self.do('save')}"

    def load_handle(self, setup: SessionSetup, saved: str) -> Any:
        path, _, text = saved.partition(" ")
        return super().load_handle(setup, text) if path == str(setup.path) else self.open_handle(setup)


@suite_mutant("ids-lost-in-the-file")
class IdsLostInTheFile(BrokenSession):
    """The messages of a loaded session have other ids than those that were saved."""

    def __init__(self, *args: Any) -> None:
        self._renamed: dict[str, str] = {}
        super().__init__(*args)
        self._renamed = {message.message_id: f"loaded-{message.message_id}" for message in self.history()}

    def history(self) -> Sequence[Message]:
        names = self._renamed
        return [
            Message(message.role, message.parts, names.get(message.message_id, message.message_id))
            for message in super().history()
        ]
