"""Sessions that hold something else than what was said, or tell their user something else than what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, ProviderError
from turnproof.messages import Message, Text, TokenUsage, same_history
from turnproof.subject import SessionReply, SessionSetup, SessionTurn

from ._mutant import suite_mutant
from ._session import BrokenSession


@suite_mutant("last-answer-not-held")
class LastAnswerNotHeld(BrokenSession):
    """The history ends with the user's message: the answer to it is recorded with the next turn."""

    def history(self) -> Sequence[Message]:
        messages = list(super().history())
        return messages[:-1] if messages and messages[-1].role == "model" else messages


@suite_mutant("failed-message-stays")
class FailedMessageStays(BrokenSession):
    """The user's message of a failed turn is taken out of the history only when the next turn begins."""

    left: tuple[Message, ...] = ()

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self.left = ()
        try:
            return super().send(text, turn)
        except ProviderError:
            self.left = (Message.user(text),)
            raise

    def history(self) -> Sequence[Message]:
        return [*super().history(), *self.left]


class _AfterACancel(BrokenSession):
    """Knows whether the last turn was cancelled."""

    cancelled = False

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        self.cancelled = reply.outcome == "cancelled"
        return reply


@suite_mutant("partial-text-not-held")
class PartialTextNotHeld(_AfterACancel):
    """Of a cancelled turn only the user's message is held."""

    def history(self) -> Sequence[Message]:
        messages = list(super().history())
        return messages[:-1] if self.cancelled and messages and messages[-1].role == "model" else messages


@suite_mutant("stuck-after-a-cancel")
class StuckAfterACancel(_AfterACancel):
    """A session whose turn was cancelled refuses the next one."""

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        if self.cancelled:
            raise InvalidRequestError("the last turn was not finished")
        return super().run_turn(say, turn)


@suite_mutant("results-not-held")
class ResultsNotHeld(BrokenSession):
    """The results of tools are sent, and not recorded."""

    def history(self) -> Sequence[Message]:
        return [message for message in super().history() if message.role != "tool"]


@suite_mutant("own-list-handed-out")
class OwnListHandedOut(BrokenSession):
    """What the history returns is the session's own list."""

    def __init__(self, *args: Any) -> None:
        self._own: list[Message] = []
        self._known: list[Message] = []
        super().__init__(*args)

    def history(self) -> Sequence[Message]:
        messages = list(super().history())
        if not same_history(messages, self._known):
            self._own, self._known = messages, list(messages)
        return self._own


@suite_mutant("ids-made-when-asked")
class IdsMadeWhenAsked(BrokenSession):
    """Every time the history is asked for, its messages get new ids."""

    looks = 0

    def history(self) -> Sequence[Message]:
        self.looks += 1
        numbered = enumerate(super().history())
        return [Message(message.role, message.parts, f"{self.looks}.{number}") for number, message in numbered]


@suite_mutant("words-added-on-the-way")
class WordsAddedOnTheWay(BrokenSession):
    """The model is sent more than the user said, and the history does not show it."""

    added = " Be brief."

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        return super().send(text + self.added, turn)

    def history(self) -> Sequence[Message]:
        return [self._without(message) for message in super().history()]

    def _without(self, message: Message) -> Message:
        if message.role != "user" or not message.text.endswith(self.added):
            return message
        return Message("user", (Text(message.text.removesuffix(self.added)),), message.message_id)


@suite_mutant("figures-added-up")
class FiguresAddedUp(BrokenSession):
    """The session adds up what its turns used."""

    total = TokenUsage()

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        last: TokenUsage = self.do("usage")
        both = zip(msgspec.structs.astuple(self.total), msgspec.structs.astuple(last), strict=True)
        self.total = TokenUsage(*(one + other for one, other in both))
        return reply

    def usage(self) -> TokenUsage:
        return self.total


@suite_mutant("stop-not-heard")
class StopNotHeard(BrokenSession):
    """Stopping does nothing."""

    def stop(self) -> None:
        """Nobody is told."""


@suite_mutant("text-shown-again")
class TextShownAgain(BrokenSession):
    """When the turn is over, the whole reply is shown once more."""

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        if turn.on_chunk is not None:
            turn.on_chunk(reply.text)
        return reply


@suite_mutant("reply-cut-short")
class ReplyCutShort(BrokenSession):
    """The reply is the first half of the answer."""

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        return replace(reply, text=reply.text[: len(reply.text) // 2])


@suite_mutant("cancelled-turn-begun")
class CancelledTurnBegun(BrokenSession):
    """A turn whose token was set before its start is begun nevertheless."""

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        return say(replace(turn, cancel_token=CancelToken()) if turn.cancel_token.is_cancelled else turn)


@suite_mutant("back-off-deaf")
class BackOffDeaf(BrokenSession):
    """A cancel while the session waits to try again is not heard."""

    waiting = False

    def open_handle(self, setup: SessionSetup) -> Any:
        def sleep(seconds: float, token: CancelToken | None) -> bool:
            self.waiting = True
            setup.sleep(seconds, token)
            self.waiting = False
            return False

        return super().open_handle(replace(setup, sleep=sleep))

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        inner_token = CancelToken()
        turn.cancel_token.on_cancel(lambda: None if self.waiting else inner_token.cancel())
        return say(replace(turn, cancel_token=inner_token))


@suite_mutant("mended-for-the-request-alone")
class MendedForTheRequestAlone(BrokenSession):
    """A call that was taken over without its result is answered in a copy for each request, and not in what is held."""

    unanswered: frozenset[str] = frozenset()

    def adopt(self, messages: Sequence[Message]) -> None:
        result_ids = {result.call_id for message in messages for result in message.results}
        self.unanswered = frozenset(call.id for one in messages for call in one.calls) - result_ids
        self.do("adopt", messages)

    def history(self) -> Sequence[Message]:
        return [one for one in super().history() if not self.unanswered & {result.call_id for result in one.results}]


@suite_mutant("interjection-kept-for-later")
class InterjectionKeptForLater(BrokenSession):
    """What the user says while a turn runs cuts the answer, and is put in front of the next turn's message."""

    later = ""

    def interject(self, text: str) -> None:
        self.later = text
        self.do("stop")

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        message, self.later = f"{self.later}\n{text}".strip(), ""
        return super().send(message, turn)


@suite_mutant("command-outcome-shown-once")
class CommandOutcomeShownOnce(BrokenSession):
    """The outcome of a command is a command's name in the history, and nothing else."""

    def inject(self, command: str, outcome: str) -> None:
        self.do("inject", command, "")
