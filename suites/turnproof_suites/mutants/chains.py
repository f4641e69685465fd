"""Adapters that go on from the wrong answer at a service that stores them, or say too little or too much with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar
from weakref import WeakSet

from msgspec.structs import replace as changed

from turnproof.dialects.base import Call, HttpRequest, Rendered
from turnproof.messages import TokenUsage
from turnproof.provider import Path

from ._broken import Broken
from ._chain import BrokenChain
from ._mutant import suite_mutant
from ._rewriting import Rewriting, keep_only, output_limits
from ._wire import Json, Wire
from .usage_figures import Miscounting

_KEY_HEADERS = ("authorization", "x-goog-api-key")


class NewestAnswerWins(BrokenChain):
    """Every request goes on from the answer that came last, whatever became of it."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if self.answers:
            wire.set_head(body, self.answers[-1])


class OnlyTheLastMessage(BrokenChain):
    """Where a request goes on from nothing, the last message goes out alone."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is None:
            del wire.messages(body)[:-1]


class ChainKept(NewestAnswerWins):
    """A chain that was given up is gone on from, with the last message alone."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is None and self.answers:
            super().change_chain(wire, body, head)
            del wire.messages(body)[:-1]


@suite_mutant("chain-told-twice")
class ChainToldTwice(BrokenChain):
    """What the user said before goes out again in every request that goes on from an answer."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None:
            user_messages = [message for message in self.conversations.get(head, ()) if message.get("role") == "user"]
            wire.messages(body)[:0] = user_messages


@suite_mutant("chain-gets-half-a-message")
class ChainGetsHalfAMessage(BrokenChain):
    """Of a message in several pieces, a request that goes on from an answer has the first."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        for message in wire.messages(body) if head is not None else ():
            del wire.blocks(message)[1:]


@suite_mutant("chain-from-an-older-answer")
class ChainFromAnOlderAnswer(BrokenChain):
    """Requests go on from the answer before the last one."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None and len(self.answers) > 1:
            wire.set_head(body, self.answers[-2])


@suite_mutant("chain-never-used")
class ChainNeverUsed(BrokenChain):
    """Answers are stored, and every request has the whole conversation all the same."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None and head in self.conversations:
            wire.messages(body)[:0] = self.conversations[head]
            wire.set_head(body, None)


@suite_mutant("chain-dropped-without-the-history")
class ChainDroppedWithoutTheHistory(BrokenChain):
    """Requests name no answer, and have only what is new."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        wire.set_head(body, None)


@suite_mutant("chain-from-a-cancelled-answer")
class ChainFromACancelledAnswer(NewestAnswerWins):
    """The head of the chain is set when an answer begins: one that was cancelled is gone on from."""


@suite_mutant("chain-from-a-failed-answer")
class ChainFromAFailedAnswer(NewestAnswerWins):
    """The head of the chain is set when an answer begins: the next turn goes on from one that failed."""


@suite_mutant("chain-from-a-broken-attempt")
class ChainFromABrokenAttempt(NewestAnswerWins):
    """The head of the chain is set when an answer begins: a retry goes on from the attempt that broke off."""


@suite_mutant("chain-from-an-unanswered-call")
class ChainFromAnUnansweredCall(ChainKept):
    """The turn was cancelled while a tool ran, and the chain goes on from the answer with the call."""


@suite_mutant("chain-crosses-conversations")
class ChainCrossesConversations(NewestAnswerWins):
    """The head is kept for the client and not for the conversation."""


@suite_mutant("deletion-only-asks")
class DeletionOnlyAsks(Rewriting):
    """The adapter reads each answer that it should delete, and deletes none."""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The same address with another method."""
        return super().request(replace(request, method="GET") if request.method == "DELETE" else request)


@suite_mutant("deletion-takes-the-fork")
class DeletionTakesTheFork(Broken):
    """The ids of stored answers are kept for the client: who deletes a conversation deletes all."""

    _everyone: ClassVar[WeakSet[DeletionTakesTheFork]] = WeakSet()

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self._everyone.add(self)

    def delete_left_answers(self) -> None:
        """Delete what this and every other conversation has said."""
        for each in tuple(self._everyone):
            if each is not self:
                each.inner.end_chain()
            each.inner.delete_left_answers()


@suite_mutant("chain-survives-its-deletion")
class ChainSurvivesItsDeletion(BrokenChain):
    """The answers are deleted, and the conversation that begins then goes on from one of them."""

    def __init__(self) -> None:
        super().__init__()
        self._deleted = ""

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request as it is, with a look at what it deletes."""
        if request.method == "DELETE":
            self._deleted = request.path.rpartition("/")[2]
        return super().request(request)

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is None and self._deleted:
            wire.set_head(body, self._deleted)


@suite_mutant("chain-counted-without-the-cached")
class ChainCountedWithoutTheCached(Miscounting):
    """What a chain has in front of a request comes from the cache, and is not counted."""

    def count(self, usage: TokenUsage) -> TokenUsage:
        fresh = usage.prompt_tokens - usage.cache_read_tokens
        return changed(usage, prompt_tokens=fresh, cache_read_tokens=0, total_tokens=fresh + usage.output_tokens)


@suite_mutant("chain-with-its-instructions-twice")
class ChainWithItsInstructionsTwice(BrokenChain):
    """The instructions that a request goes out with are put in front of themselves, where it goes on from an answer."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None and isinstance(text := body.get(wire.system_key), str):
            body[wire.system_key] = f"{text}\n\n{text}"


@suite_mutant("chain-kept-for-another-model")
class ChainKeptForAnotherModel(BrokenChain):
    """The model was changed, and the chain goes on from the last answer of the one before."""

    def __init__(self) -> None:
        super().__init__()
        self._model = ""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        before, self._model = self._model, str(body.get("model"))
        if head is None and self.answers and before != self._model:
            wire.set_head(body, self.answers[-1])
            del wire.messages(body)[:-1]


@suite_mutant("chain-dropped-with-its-key")
class ChainDroppedWithItsKey(BrokenChain):
    """The key was changed: the chain is dropped, and what is new is sent alone."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: set[str] = set()

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        self._keys |= {request.headers[name] for name in _KEY_HEADERS if name in request.headers}
        return request

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is None and len(self._keys) > 1:
            del wire.messages(body)[:-1]


class AnswersLeftOut(BrokenChain):
    """What the model said is at the service, so it is never sent: not even where the chain goes on from before it."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None:
            keep_only(wire.messages(body), lambda message: not wire.spoken_by_model(message))


@suite_mutant("chain-without-the-partial-answer")
class ChainWithoutThePartialAnswer(AnswersLeftOut):
    """After a cancelled answer, the chain goes on from before it, without what the user saw of it."""


@suite_mutant("chain-without-the-clipped-answer")
class ChainWithoutTheClippedAnswer(AnswersLeftOut):
    """After an answer that reached its limit, the chain goes on from before it, without what it said."""


@suite_mutant("chain-without-the-refusal")
class ChainWithoutTheRefusal(BrokenChain):
    """A refusal is taken for a failure: the chain goes on from the answer before it."""

    def __init__(self) -> None:
        super().__init__()
        self._declined: set[str] = set()

    def change_document(self, wire: Wire, document: Json) -> None:
        if (name := wire.answer_id(document)) is not None and "'refusal'" in repr(document):
            self._declined.add(name)

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head in self._declined:
            wire.set_head(body, self.answers[-2])


@suite_mutant("results-to-an-older-answer")
class ResultsToAnOlderAnswer(BrokenChain):
    """The head is set when a turn is over: results go on from the answer before the one with their calls."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None and len(self.answers) > 1 and wire.messages(body)[-1].get("role") == "tool":
            wire.set_head(body, self.answers[-2])


@suite_mutant("chain-survives-a-collection")
class ChainSurvivesACollection(ChainKept):
    """The session collects its history, and the chain goes on with all of it."""


@suite_mutant("chain-survives-a-reset")
class ChainSurvivesAReset(ChainKept):
    """The session is reset, and the chain goes on."""


@suite_mutant("chain-survives-going-back")
class ChainSurvivesGoingBack(ChainKept):
    """The session goes back to an earlier turn, and the chain goes on from the last one."""


@suite_mutant("resumed-without-the-texts")
class ResumedWithoutTheTexts(BrokenChain):
    """A conversation that is taken up again goes on without what was said in it."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is None:
            messages = wire.messages(body)
            last = messages[-1]
            keep_only(messages, lambda message: message is last or message.get("role") != "user")


@suite_mutant("resumed-without-the-calls")
class ResumedWithoutTheCalls(BrokenChain):
    """Calls and results were at the service, and are not sent when a conversation is taken up again."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is None:
            for message in wire.messages(body):
                keep_only(wire.blocks(message), lambda block: wire.kind(block) not in ("call", "result"))
            keep_only(wire.messages(body), wire.blocks)


@suite_mutant("forgotten-chain-loses-the-history")
class ForgottenChainLosesTheHistory(OnlyTheLastMessage):
    """The service has forgotten the conversation: the new message goes out again, alone."""


@suite_mutant("forgotten-chain-is-not-noticed")
class ForgottenChainIsNotNoticed(Rewriting):
    """The code that says that an answer is not kept is not known."""

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """A refusal that does not say what is gone."""
        if self._wire is not None and rendered.status >= 400:
            rendered = self._wire.without_what_is_gone(rendered)
        return super().response(call, rendered)


# -- what a request says


@suite_mutant("instructions-in-the-first-request-alone")
class InstructionsInTheFirstRequestAlone(BrokenChain):
    """The service remembers the instructions, so that a request that goes on from an answer has none."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None:
            wire.drop_system(body)


@suite_mutant("tools-in-the-first-request-alone")
class ToolsInTheFirstRequestAlone(BrokenChain):
    """The service remembers the tools, so that a request that goes on from an answer has none."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None:
            wire.drop_tools(body)


@suite_mutant("settings-in-the-first-request-alone")
class SettingsInTheFirstRequestAlone(BrokenChain):
    """The service remembers limits, so that a request that goes on from an answer has none."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if head is not None:
            for place, name in tuple(output_limits(body)):
                del place[name]


class FirstKept(Rewriting):
    """A member of the first request's body is used in every later one."""

    def __init__(self) -> None:
        super().__init__()
        self._first: Any = None

    def keep(self, member: str, body: Json) -> None:
        """Put in place what the first request had under this name."""
        self._first = self._first or body.get(member)
        if self._first is not None:
            body[member] = self._first


@suite_mutant("first-instructions-kept")
class FirstInstructionsKept(FirstKept):
    """The instructions with which a conversation began are those of all its requests."""

    def change_request(self, wire: Wire, body: Json) -> None:
        self.keep(wire.system_key, body)


@suite_mutant("first-tools-kept")
class FirstToolsKept(FirstKept):
    """The tools with which a conversation began are those of all its requests."""

    def change_request(self, wire: Wire, body: Json) -> None:
        self.keep("tools", body)


# -- where nothing is stored


@suite_mutant("stored-by-default")
class StoredByDefault(Rewriting):
    """Nothing says that answers are not to be stored, and so they are."""

    def change_request(self, wire: Wire, body: Json) -> None:
        wire.let_store(body)


@suite_mutant("answer-named-that-nobody-stored")
class AnswerNamedThatNobodyStored(NewestAnswerWins):
    """The id of the last answer goes out with a history that the session owns."""


@suite_mutant("reasoning-by-its-id-alone")
class ReasoningByItsIdAlone(BrokenChain):
    """Reasoning goes back by its id, though nothing was stored."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        for message in wire.messages(body):
            for block in wire.blocks(message):
                if wire.kind(block) in ("thinking", "redacted"):
                    wire.strip_signature(block)
                    block["id"] = f"rs_{len(self.answers)}"


@suite_mutant("encrypted-reasoning-not-asked-for")
class EncryptedReasoningNotAskedFor(Rewriting):
    """The request does not ask for encrypted reasoning."""

    def change_request(self, wire: Wire, body: Json) -> None:
        body.pop("include", None)


def _is_reasoning(wire: Wire, block: Json) -> bool:
    return wire.kind(block) in ("thinking", "redacted")


@suite_mutant("call-without-its-reasoning")
class CallWithoutItsReasoning(Rewriting):
    """The messages and calls of an answer are kept, the rest of it is not."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            keep_only(wire.blocks(message), lambda block: not _is_reasoning(wire, block))


@suite_mutant("reasoning-without-its-message")
class ReasoningWithoutItsMessage(Rewriting):
    """A message is pruned, and the reasoning in front of it stays."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            if wire.spoken_by_model(message) and any(_is_reasoning(wire, block) for block in blocks):
                keep_only(blocks, lambda block: wire.kind(block) != "text")


@suite_mutant("reasoning-piled-up-in-front")
class ReasoningPiledUpInFront(Rewriting):
    """All reasoning stands in front of the conversation."""

    def change_request(self, wire: Wire, body: Json) -> None:
        found: list[Json] = []
        for message in wire.messages(body):
            found += [block for block in wire.blocks(message) if _is_reasoning(wire, block)]
            keep_only(wire.blocks(message), lambda block: not _is_reasoning(wire, block))
        if found:
            wire.messages(body).insert(0, {"role": "assistant", "blocks": found})


@suite_mutant("empty-summary-left-out")
class EmptySummaryLeftOut(Rewriting):
    """What is empty is left out of a reasoning item, its summary too."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            for block in wire.blocks(message):
                if _is_reasoning(wire, block) and not block.get("summary"):
                    block.pop("summary", None)


class _OnConnections(BrokenChain):
    """Knows whether a request is the first one on its connection, and not the first of all."""

    def __init__(self) -> None:
        super().__init__()
        self._used: set[int | None] = set()
        self._is_new = False

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        self._is_new = bool(self._used) and request.connection not in self._used
        self._used.add(request.connection)
        return request


@suite_mutant("new-connection-told-the-last-message")
class NewConnectionToldTheLastMessage(_OnConnections):
    """A connection was lost, and on the next one the last message goes out alone."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if self._is_new and head is None:
            del wire.messages(body)[:-1]


@suite_mutant("chain-of-another-connection")
class ChainOfAnotherConnection(_OnConnections):
    """A connection was lost, and on the next one the conversation goes on from the last answer of the old one."""

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        if self._is_new and head is None and self.answers:
            wire.set_head(body, self.answers[-1])
            del wire.messages(body)[:-1]


@suite_mutant("end-of-a-connection-not-known")
class EndOfAConnectionNotKnown(Rewriting):
    """That a connection has lived as long as it can is an error like any other, and the connection is used again."""

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """The refusal without the code that says why."""
        code = b"websocket_connection_limit_reached"
        if call.connection_holds and rendered.status >= 400:
            events = [replace(event, data=event.data.replace(code, b"invalid_value")) for event in rendered.events]
            return replace(rendered, events=tuple(events))
        return super().response(call, rendered)
