"""Agents whose tools run otherwise than they should, and that make something else of a turn's end than it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from turnproof.agents import Tool
from turnproof.cancel import CancelToken
from turnproof.errors import ProviderError, TransportError
from turnproof.messages import Message, TokenUsage
from turnproof.subject import SessionReply, SessionSetup, SessionTurn

from ._agent import BrokenAgent, BrokenTools, with_chunk_listener
from ._mutant import suite_mutant

Say = Callable[[SessionTurn], SessionReply]

# -- tools --------------------------------------------------------------------------------------------------


@suite_mutant("agents-calls-run-again")
class AgentsCallsRunAgain(BrokenTools):
    """The calls that the agent tells of have run already, and whoever hears of them runs them again."""

    def run_tool(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        tool.run(dict(args), token)
        return tool.run(args, token)


@suite_mutant("agents-arguments-as-text")
class AgentsArgumentsAsText(BrokenTools):
    """The program makes text of every argument that is none, and the tool gets it as it comes."""

    def run_tool(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        return tool.run({key: one if isinstance(one, str) else json.dumps(one) for key, one in args.items()}, token)


@suite_mutant("agents-results-dropped")
class AgentsResultsDropped(BrokenTools):
    """The server of tools says that a call was done, and not what came of it."""

    def run_tool(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        tool.run(args, token)
        return "done"


@suite_mutant("yes-to-everything")
class YesToEverything(BrokenAgent):
    """The program asks whether a call may run, and is told yes without anybody being asked."""

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(replace(setup, permits=lambda call: True))


# -- turns that end otherwise -------------------------------------------------------------------------------


@suite_mutant("second-turn-dropped")
class SecondTurnDropped(BrokenAgent):
    """What is asked for while a turn runs is forgotten, and its caller gets an empty answer."""

    busy = False

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        if self.busy:
            return SessionReply("")
        self.busy = True
        try:
            return say(turn)
        finally:
            self.busy = False


@suite_mutant("one-answer-behind")
class OneAnswerBehind(BrokenAgent):
    """The end of a cancelled turn comes late, and each later message gets the answer to the one before."""

    late: SessionReply | None = None

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        if reply.outcome == "cancelled":
            self.late = replace(reply, outcome="answer")
        elif self.late is not None:
            reply, self.late = self.late, reply
        return reply


@suite_mutant("cancel-told-to-nobody")
class CancelToldToNobody(BrokenAgent):
    """A cancel is kept for the end of the turn: the program writes its answer to the end."""

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        reply = say(replace(turn, cancel_token=CancelToken()))
        return replace(reply, outcome="cancelled") if turn.cancel_token.is_cancelled else reply


@suite_mutant("failed-turn-is-the-last")
class FailedTurnIsTheLast(BrokenAgent):
    """The program ends with a failed turn, and nobody starts it again."""

    ended = False

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        if self.ended:
            raise TransportError("the program has ended")
        try:
            return say(turn)
        except ProviderError:
            self.ended = True
            raise


@suite_mutant("failure-told-as-an-answer")
class FailureToldAsAnAnswer(BrokenAgent):
    """The text of an error is returned as the reply, since the program has ended its turn."""

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        try:
            return say(turn)
        except ProviderError as error:
            return SessionReply(f"API Error: {error}")


@suite_mutant("lost-answer-in-front")
class LostAnswerInFront(BrokenAgent):
    """An answer that broke off is asked for again, and what had come of it stays in front of the new one."""

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        pieces: list[str] = []
        turn = with_chunk_listener(turn, pieces.append)
        try:
            reply = say(turn)
        except ProviderError:
            reply = say(turn)
        return replace(reply, text="".join(pieces) or reply.text)


@suite_mutant("half-an-answer-of-the-killed")
class HalfAnAnswerOfTheKilled(BrokenAgent):
    """When the program's output ends, what it has written so far is the reply."""

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        pieces: list[str] = []
        try:
            return say(with_chunk_listener(turn, pieces.append))
        except ProviderError:
            return SessionReply("".join(pieces))


@suite_mutant("broken-pipe-raised")
class BrokenPipeRaised(BrokenAgent):
    """A program that is gone is noticed by writing to it, and the caller gets the error of the pipe."""

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        try:
            return say(turn)
        except TransportError as error:
            raise BrokenPipeError(32, "Broken pipe") from error


@suite_mutant("killed-agent-forgets")
class KilledAgentForgets(BrokenAgent):
    """The program is started again without the id of its session."""

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        before = self.session_id()
        try:
            return say(turn)
        except ProviderError:
            self.new_session()
            self.shown_id = before
            raise


@suite_mutant("lost-words-stay-in-the-history")
class LostWordsStayInTheHistory(BrokenAgent):
    """What was shown of an answer stays in the local history, whatever the program has stored."""

    shown_messages: tuple[Message, ...] = ()

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        pieces: list[str] = []
        try:
            return say(with_chunk_listener(turn, pieces.append))
        except ProviderError:
            self.shown_messages = (*self.shown_messages, Message.model("".join(pieces)))
            raise

    def history(self) -> Sequence[Message]:
        return [*super().history(), *self.shown_messages]


@suite_mutant("agents-figures-added-up")
class AgentsFiguresAddedUp(BrokenAgent):
    """The program tells what the session has taken, and that is told for the turn."""

    total = TokenUsage()

    def run_turn(self, say: Say, turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        both = zip(msgspec.structs.astuple(self.total), msgspec.structs.astuple(self.do("usage")), strict=True)
        self.total = TokenUsage(*(one + other for one, other in both))
        return reply

    def usage(self) -> TokenUsage:
        return self.total
