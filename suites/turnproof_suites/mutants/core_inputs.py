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

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace(inputs, system=None) if inputs.has_answers else inputs


@suite_mutant("first-system-text-kept")
class FirstSystemTextKept(Broken):
    """The system text of the first call goes out in all later ones."""

    first: SystemInstruction = None

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.first = self.first or inputs.system
        return replace(inputs, system=self.first)


@suite_mutant("new-message-sent-twice")
class NewMessageSentTwice(Broken):
    """The user's new message is appended by the session and by the adapter."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if inputs.opens or not inputs.messages or inputs.messages[-1].role != "user":
            return inputs
        *before, last = inputs.messages
        return replace(inputs, messages=[*before, changed(last, parts=last.parts * 2)])


@suite_mutant("history-cut-in-silence")
class HistoryCutInSilence(Broken):
    """Only the last three messages go out, whatever the conversation was."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace(inputs, messages=list(inputs.messages[-3:]))


@suite_mutant("only-new-messages-sent")
class OnlyNewMessagesSent(Broken):
    """What was sent once is taken to be known to the service, and not sent again."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.sent_count = 0

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        fresh = list(inputs.messages[self.sent_count :]) or list(inputs.messages[-1:])
        self.sent_count = len(inputs.messages)
        return replace(inputs, messages=fresh)


@suite_mutant("callers-list-grows")
class CallersListGrows(Broken):
    """The answer is appended to the caller's own list of messages."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        response = proceed(inputs)
        assert isinstance(inputs.messages, list)
        inputs.messages.append(Message("model", response.parts))
        return response


@suite_mutant("request-counted-in-the-prompt")
class RequestCountedInThePrompt(Broken):
    """Each object numbers its requests in the system text."""

    count = 0

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.count += 1
        text = inputs.system.text if isinstance(inputs.system, Text) else inputs.system
        return replace(inputs, system=f"{text}\n(request {self.count})")


@suite_mutant("longest-conversation-wins")
class LongestConversationWins(Broken):
    """The object keeps the longest conversation it has seen, and sends that one."""

    longest: Sequence[Message] = ()

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if len(inputs.messages) > len(self.longest):
            self.longest = tuple(inputs.messages)
        return replace(inputs, messages=list(self.longest))


@suite_mutant("threads-share-one-slot")
class ThreadsShareOneSlot(Broken):
    """What a call was given passes through a field of the object, where the next call overwrites it."""

    slot: CallInputs
    pause = threading.Event()

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.slot = inputs
        # Long enough for every other thread to come by; calls one after the other notice nothing.
        self.pause.wait(0.1)
        return self.slot


@suite_mutant("history-counted-message-by-message")
class HistoryCountedMessageByMessage(Broken):
    """Before each call, every message of the history is counted by a request of its own."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        for message in inputs.messages:
            self.inner.count_tokens([Message.user(message.text or "-")])
        return proceed(inputs)


@suite_mutant("models-listed-in-each-call")
class ModelsListedInEachCall(Broken):
    """Each call asks for the list of models, for the window, for the limit of the output and for the name."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        for _ in range(3):
            self.inner.list_models()
        return proceed(inputs)


@suite_mutant("first-event-loop-only")
class FirstEventLoopOnly(Broken):
    """What it holds open belongs to the event loop that it was first called in."""

    loop: asyncio.AbstractEventLoop | None = None

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return inputs
        self.loop = self.loop or running
        if self.loop is not running:
            raise TransportError("the connection is attached to a different loop")
        return inputs
