"""Sessions that do something else than they are told: on reset, revert, collect, load and swap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.gc import turn_starts
from turnproof.messages import Message
from turnproof.subject import SessionBinding, SessionSetup, SessionTurn

from ._mutant import mutant
from ._session import BrokenSession


@mutant(
    "reset-keeps-a-turn",
    "session",
    caught_by="history/reset-empties-it",
    scenarios="history/reset",
    sources="behaviours:A8",
)
class ResetKeepsATurn(BrokenSession):
    """A reset goes back to the first turn instead of to the beginning."""

    def reset(self) -> None:
        self.do("revert", 0)


@mutant(
    "reset-tells-the-model",
    "session",
    caught_by="history/reset-asks-nobody",
    scenarios="history/reset",
    sources="behaviours:A8",
)
class ResetTellsTheModel(BrokenSession):
    """Before it forgets the conversation, the session tells the model so."""

    def reset(self) -> None:
        self.inner.send(self.handle, "Forget all that.", SessionTurn(CancelToken()))
        self.do("reset")


@mutant(
    "revert-a-turn-too-far",
    "session",
    caught_by="history/revert-keeps-the-earlier-turns",
    scenarios="history/reverted",
    sources="behaviours:A9",
)
class RevertATurnTooFar(BrokenSession):
    """Going back to a turn forgets that turn as well."""

    def revert(self, turn_index: int) -> None:
        self.do("revert", turn_index)
        if turn_index:
            self.do("revert", turn_index - 1)


@mutant(
    "revert-out-of-range-passes",
    "session",
    caught_by="history/revert-out-of-range-is-refused",
    scenarios="history/reverted",
    sources="behaviours:A9",
)
class RevertOutOfRangePasses(BrokenSession):
    """Going back to a turn that is not there goes back to the last one."""

    def revert(self, turn_index: int) -> None:
        self.do("revert", min(turn_index, len(turn_starts(self.history())) - 1))


@mutant(
    "newest-turn-collected",
    "session",
    caught_by="history/collection-drops-the-oldest-turns",
    scenarios="gc/tool_pairs",
    sources=("behaviours:I3", "defects:GC7"),
)
class NewestTurnCollected(BrokenSession):
    """A collection drops the newest turn."""

    def collect(self) -> None:
        self.do("revert", len(turn_starts(self.history())) - 2)


@mutant(
    "damaged-session-begun-anew",
    "session",
    caught_by="history/damaged-save-is-refused",
    scenarios="history/saved",
    sources=("behaviours:L4", "defects:PE4"),
)
class DamagedSessionBegunAnew(BrokenSession):
    """A saved session that cannot be read is taken for an empty one."""

    def loaded(self, setup: SessionSetup, saved: str) -> Any:
        try:
            return super().loaded(setup, saved)
        except Exception:
            return self.opened(setup)


@mutant(
    "swap-begins-anew",
    "session",
    caught_by="history/swap-keeps-it",
    scenarios="persistence/new_provider",
    sources=("behaviours:A10", "defects:LS7"),
)
class SwapBeginsAnew(BrokenSession):
    """With another provider the session takes over what that one holds: nothing."""

    def swap(self, provider: Any) -> None:
        self.do("swap", provider)
        self.do("reset")


@mutant(
    "provider-a-message-behind",
    "session",
    caught_by="history/provider-holds-the-same",
    scenarios="basics/plain",
    sources=("behaviours:A4", "defects:LS10"),
    paths=("legacy",),
)
class ProviderAMessageBehind(BrokenSession):
    """The provider does not hold the newest message."""

    def provider_history(self) -> Sequence[Message]:
        held: Sequence[Message] = self.do("provider_history")
        return held[:-1]


@mutant(
    "other-path-begins-anew",
    "session",
    caught_by="persistence/other-path-continues",
    scenarios="persistence/other_path",
    sources="behaviours:L1",
)
class OtherPathBeginsAnew(BrokenSession):
    """A session that was saved on the other path is one of another program, and is left alone."""

    def __init__(self, inner: SessionBinding, setup: SessionSetup, saved: str | None = None) -> None:
        self._path = setup.path
        super().__init__(inner, setup, saved)

    def save(self) -> str:
        return f"{self._path} {self.do('save')}"

    def loaded(self, setup: SessionSetup, saved: str) -> Any:
        path, _, text = saved.partition(" ")
        return super().loaded(setup, text) if path == str(setup.path) else self.opened(setup)


@mutant(
    "ids-lost-in-the-file",
    "session",
    caught_by="persistence/loaded-history-is-the-saved-one",
    scenarios="persistence/cancelled_then_saved",
    sources=("behaviours:L1", "defects:PE1"),
)
class IdsLostInTheFile(BrokenSession):
    """The messages of a loaded session have other ids than those that were saved."""

    def __init__(self, *given: Any) -> None:
        self._renamed: dict[str, str] = {}
        super().__init__(*given)
        self._renamed = {message.message_id: f"loaded-{message.message_id}" for message in self.history()}

    def history(self) -> Sequence[Message]:
        names = self._renamed
        return [
            Message(message.role, message.parts, names.get(message.message_id, message.message_id))
            for message in super().history()
        ]
