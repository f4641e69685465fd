"""Adapters that do not send what they were given, or do not leave it alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from turnproof.errors import TransportError
from turnproof.messages import Message, ProviderResponse, Text
from turnproof.provider import Path, SystemInstruction

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant


@suite_mutant("system-dropped-with-history")
class SystemDroppedWithHistory(Broken):
    """The system text goes out only while there is no history yet."""

    def given(self, given: CallInputs) -> CallInputs:
        return replace(given, system=None) if given.has_answers else given


@suite_mutant("first-system-text-kept")
class FirstSystemTextKept(Broken):
    """The system text of the first call goes out in all later ones."""

    first: SystemInstruction = None

    def given(self, given: CallInputs) -> CallInputs:
        self.first = self.first or given.system
        return replace(given, system=self.first)


@suite_mutant("new-message-sent-twice")
class NewMessageSentTwice(Broken):
    """The user's new message is appended by the session and by the adapter."""

    def given(self, given: CallInputs) -> CallInputs:
        if given.opens or not given.messages or given.messages[-1].role != "user":
            return given
        *before, last = given.messages
        return replace(given, messages=[*before, changed(last, parts=last.parts * 2)])


@suite_mutant("history-cut-in-silence")
class HistoryCutInSilence(Broken):
    """Only the last three messages go out, whatever the conversation was."""

    def given(self, given: CallInputs) -> CallInputs:
        return replace(given, messages=list(given.messages[-3:]))


@suite_mutant("only-new-messages-sent")
class OnlyNewMessagesSent(Broken):
    """What was sent once is taken to be known to the service, and not sent again."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.sent = 0

    def given(self, given: CallInputs) -> CallInputs:
        fresh = list(given.messages[self.sent :]) or list(given.messages[-1:])
        self.sent = len(given.messages)
        return replace(given, messages=fresh)


@suite_mutant("callers-list-grows")
class CallersListGrows(Broken):
    """The answer is appended to the caller's own list of messages."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        response = proceed(given)
        assert isinstance(given.messages, list)
        given.messages.append(Message("model", response.parts))
        return response


@suite_mutant("request-counted-in-the-prompt")
class RequestCountedInThePrompt(Broken):
    """Each object numbers its requests in the system text."""

    count = 0

    def given(self, given: CallInputs) -> CallInputs:
        self.count += 1
        text = given.system.text if isinstance(given.system, Text) else given.system
        return replace(given, system=f"{text}\n(request {self.count})")


@suite_mutant("longest-conversation-wins")
class LongestConversationWins(Broken):
    """The object keeps the longest conversation it has seen, and sends that one."""

    longest: Sequence[Message] = ()

    def given(self, given: CallInputs) -> CallInputs:
        if len(given.messages) > len(self.longest):
            self.longest = tuple(given.messages)
        return replace(given, messages=list(self.longest))


@suite_mutant("threads-share-one-slot")
class ThreadsShareOneSlot(Broken):
    """What a call was given passes through a field of the object, where the next call overwrites it."""

    slot: CallInputs
    pause = threading.Event()

    def given(self, given: CallInputs) -> CallInputs:
        self.slot = given
        # Long enough for every other thread to come by; calls one after the other notice nothing.
        self.pause.wait(0.1)
        return self.slot


@suite_mutant("history-counted-message-by-message")
class HistoryCountedMessageByMessage(Broken):
    """Before each call, every message of the history is counted by a request of its own."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        for message in given.messages:
            self.inner.count_tokens([Message.user(message.text or "-")])
        return proceed(given)


@suite_mutant("models-listed-in-each-call")
class ModelsListedInEachCall(Broken):
    """Each call asks for the list of models, for the window, for the limit of the output and for the name."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        for _ in range(3):
            self.inner.list_models()
        return proceed(given)


@suite_mutant("first-event-loop-only")
class FirstEventLoopOnly(Broken):
    """What it holds open belongs to the event loop that it was first called in."""

    loop: asyncio.AbstractEventLoop | None = None

    def given(self, given: CallInputs) -> CallInputs:
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return given
        self.loop = self.loop or running
        if self.loop is not running:
            raise TransportError("the connection is attached to a different loop")
        return given
