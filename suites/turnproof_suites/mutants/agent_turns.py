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

from ._agent import BrokenAgent, BrokenTools, overheard
from ._mutant import mutant

Say = Callable[[SessionTurn], SessionReply]

# -- tools --------------------------------------------------------------------------------------------------


@mutant(
    "agents-calls-run-again",
    "agent",
    caught_by="sessions/calls-run-once",
    scenarios="tools/one",
    sources="defects:TP16",
)
class AgentsCallsRunAgain(BrokenTools):
    """The calls that the agent tells of have run already, and whoever hears of them runs them again."""

    def ran(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        tool.run(dict(args), token)
        return tool.run(args, token)


@mutant(
    "agents-arguments-as-text",
    "agent",
    caught_by="sessions/calls-run-once",
    scenarios="tools/large_arguments",
    sources=("defects:TP17", "defects:TP18"),
)
class AgentsArgumentsAsText(BrokenTools):
    """The program makes text of every argument that is none, and the tool gets it as it comes."""

    def ran(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        return tool.run({key: one if isinstance(one, str) else json.dumps(one) for key, one in args.items()}, token)


@mutant(
    "agents-results-dropped",
    "agent",
    caught_by="sessions/results-reach-the-model",
    scenarios="tools/one",
    sources="defects:TP2",
)
class AgentsResultsDropped(BrokenTools):
    """The server of tools says that a call was done, and not what came of it."""

    def ran(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        tool.run(args, token)
        return "done"


@mutant(
    "yes-to-everything",
    "agent",
    caught_by="sessions/denied-tools-do-not-run",
    scenarios="sessions/denied",
    sources="design:agents",
)
class YesToEverything(BrokenAgent):
    """The program asks whether a call may run, and is told yes without anybody being asked."""

    def opened(self, setup: SessionSetup) -> Any:
        return super().opened(replace(setup, permits=lambda call: True))


# -- turns that end otherwise -------------------------------------------------------------------------------


@mutant(
    "second-turn-dropped",
    "agent",
    caught_by="sessions/one-turn-at-a-time",
    scenarios="sessions/at_once",
    sources="defects:RS3",
)
class SecondTurnDropped(BrokenAgent):
    """What is asked for while a turn runs is forgotten, and its caller gets an empty answer."""

    busy = False

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        if self.busy:
            return SessionReply("")
        self.busy = True
        try:
            return say(turn)
        finally:
            self.busy = False


@mutant(
    "one-answer-behind",
    "agent",
    caught_by="sessions/cancelled-turn-serves-the-next",
    scenarios="sessions/cancelled",
    sources=("behaviours:D13", "defects:TP1"),
)
class OneAnswerBehind(BrokenAgent):
    """The end of a cancelled turn comes late, and each later message gets the answer to the one before."""

    late: SessionReply | None = None

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        if reply.outcome == "cancelled":
            self.late = replace(reply, outcome="answer")
        elif self.late is not None:
            reply, self.late = self.late, reply
        return reply


@mutant(
    "cancel-told-to-nobody",
    "agent",
    caught_by="sessions/cancel-ends-the-request",
    scenarios="sessions/cancelled",
    sources=("behaviours:G5", "defects:ST21"),
)
class CancelToldToNobody(BrokenAgent):
    """A cancel is kept for the end of the turn: the program writes its answer to the end."""

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        reply = say(replace(turn, cancel_token=CancelToken()))
        return replace(reply, outcome="cancelled") if turn.cancel_token.is_cancelled else reply


@mutant(
    "failed-turn-is-the-last",
    "agent",
    caught_by="sessions/failed-turn-serves-the-next",
    scenarios="sessions/failed",
    sources=("defects:RS6", "behaviours:P5"),
)
class FailedTurnIsTheLast(BrokenAgent):
    """The program ends with a failed turn, and nobody starts it again."""

    ended = False

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        if self.ended:
            raise TransportError("the program has ended")
        try:
            return say(turn)
        except ProviderError:
            self.ended = True
            raise


@mutant(
    "failure-told-as-an-answer",
    "agent",
    caught_by="sessions/failure-is-no-answer",
    scenarios="sessions/failed",
    sources="defects:ER11",
)
class FailureToldAsAnAnswer(BrokenAgent):
    """The text of an error is returned as the reply, since the program has ended its turn."""

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        try:
            return say(turn)
        except ProviderError as error:
            return SessionReply(f"API Error: {error}")


@mutant(
    "lost-answer-in-front",
    "agent",
    caught_by="sessions/retried-answer-is-shown-once",
    scenarios="sessions/broken_off",
    sources="design:agents",
)
class LostAnswerInFront(BrokenAgent):
    """An answer that broke off is asked for again, and what had come of it stays in front of the new one."""

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        pieces: list[str] = []
        turn = overheard(turn, pieces.append)
        try:
            reply = say(turn)
        except ProviderError:
            reply = say(turn)
        return replace(reply, text="".join(pieces) or reply.text)


@mutant(
    "half-an-answer-of-the-killed",
    "agent",
    caught_by="sessions/killed-agent-ends-the-turn",
    scenarios="sessions/killed",
    sources=("defects:ER11", "defects:ST21"),
)
class HalfAnAnswerOfTheKilled(BrokenAgent):
    """When the program's output ends, what it has written so far is the reply."""

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        pieces: list[str] = []
        try:
            return say(overheard(turn, pieces.append))
        except ProviderError:
            return SessionReply("".join(pieces))


@mutant(
    "broken-pipe-raised",
    "agent",
    caught_by="sessions/killed-agent-ends-the-turn",
    scenarios="sessions/killed_tool",
    sources="defects:ST21",
)
class BrokenPipeRaised(BrokenAgent):
    """A program that is gone is noticed by writing to it, and the caller gets the error of the pipe."""

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        try:
            return say(turn)
        except TransportError as error:
            raise BrokenPipeError(32, "Broken pipe") from error


@mutant(
    "killed-agent-forgets",
    "agent",
    caught_by="sessions/earlier-turns-survive-a-kill",
    scenarios="sessions/killed",
    sources=("behaviours:D13", "defects:PE3"),
)
class KilledAgentForgets(BrokenAgent):
    """The program is started again without the id of its session."""

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        before = self.session_id()
        try:
            return say(turn)
        except ProviderError:
            self.new_session()
            self.under = before
            raise


@mutant(
    "lost-words-stay-in-the-history",
    "agent",
    caught_by="sessions/loss-is-not-hidden",
    scenarios="sessions/killed",
    sources="behaviours:O8",
)
class LostWordsStayInTheHistory(BrokenAgent):
    """What was shown of an answer stays in the local history, whatever the program has stored."""

    lost: tuple[Message, ...] = ()

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        pieces: list[str] = []
        try:
            return say(overheard(turn, pieces.append))
        except ProviderError:
            self.lost = (*self.lost, Message.model("".join(pieces)))
            raise

    def history(self) -> Sequence[Message]:
        return [*super().history(), *self.lost]


@mutant(
    "agents-figures-added-up",
    "agent",
    caught_by="sessions/usage-is-of-the-turn",
    scenarios="basics/four_turns",
    sources="behaviours:O9",
)
class AgentsFiguresAddedUp(BrokenAgent):
    """The program tells what the session has taken, and that is told for the turn."""

    total = TokenUsage()

    def said(self, say: Say, turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        both = zip(msgspec.structs.astuple(self.total), msgspec.structs.astuple(self.do("usage")), strict=True)
        self.total = TokenUsage(*(one + other for one, other in both))
        return reply

    def usage(self) -> TokenUsage:
        return self.total
