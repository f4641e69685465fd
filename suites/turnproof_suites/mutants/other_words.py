"""Sessions and adapters that do wrong where an answer broke and came in other words when it was asked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from turnproof import errors
from turnproof.messages import ProviderResponse
from turnproof.subject import SessionReply, SessionTurn

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant
from ._session import BrokenSession


@suite_mutant("other-words-joined-by-a-retry")
class OtherWordsJoinedByARetry(Broken):
    """The adapter asks again by itself, and leaves out as many characters as it has shown, whatever they are."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if inputs.on_chunk is None:
            return proceed(inputs)
        show, shown = inputs.on_chunk, 0

        def first(piece: str) -> None:
            nonlocal shown
            shown += len(piece)
            show(piece)

        def second(piece: str) -> None:
            nonlocal shown
            left_out, shown = min(shown, len(piece)), max(0, shown - len(piece))
            if piece[left_out:]:
                show(piece[left_out:])

        try:
            return proceed(replace(inputs, on_chunk=first))
        except errors.ProviderError as error:
            if not error.retryable or not shown:
                raise
            return proceed(replace(inputs, on_chunk=second))


class _TakesBack(BrokenSession):
    """Has the inner session tell something else of what is taken back."""

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        if turn.on_taken_back is None:
            return super().run_turn(say, turn)
        return self.say_with(say, turn, turn.on_taken_back)

    def say_with(
        self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn, on_taken_back: Callable[[str], None]
    ) -> SessionReply:
        """The turn, where the user can be told by `on_taken_back`."""
        raise NotImplementedError


@suite_mutant("taken-back-without-a-word")
class TakenBackWithoutAWord(_TakesBack):
    """It goes on with the new answer, and nobody is told that the beginning of the old one does not count."""

    def say_with(
        self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn, on_taken_back: Callable[[str], None]
    ) -> SessionReply:
        return say(replace(turn, on_taken_back=lambda text: None))


@suite_mutant("nothing-taken-back")
class NothingTakenBack(_TakesBack):
    """The turn fails as if nobody could be told."""

    def say_with(
        self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn, on_taken_back: Callable[[str], None]
    ) -> SessionReply:
        return say(replace(turn, on_taken_back=None))


@suite_mutant("last-words-taken-back")
class LastWordsTakenBack(_TakesBack):
    """Only the last characters that were shown are taken back."""

    def say_with(
        self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn, on_taken_back: Callable[[str], None]
    ) -> SessionReply:
        return say(replace(turn, on_taken_back=lambda text: on_taken_back(text[-4:])))


@suite_mutant("taken-back-too-late")
class TakenBackTooLate(_TakesBack):
    """The user is told when the turn is over, and the new answer stands behind the old one."""

    def say_with(
        self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn, on_taken_back: Callable[[str], None]
    ) -> SessionReply:
        texts: list[str] = []
        reply = say(replace(turn, on_taken_back=texts.append))
        for text in texts:
            on_taken_back(text)
        return reply
