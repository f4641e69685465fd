"""Adapters that hold on to a conversation that has changed, or need one they have never seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse, same
from turnproof.provider import Path

from ._broken import Broken, CallInputs, Proceed
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


class _Watching(Broken):
    """Notices when a conversation is shorter than it was, and gives something else in its place.

    On the stateless path that shows in a call, on the legacy path when a session is created anew.
    """

    known: Sequence[Message] = ()

    def change_shortened(self, inputs: CallInputs, known: Sequence[Message]) -> CallInputs:
        """What goes in instead, where `known` messages were there before."""
        return inputs

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if self.path == "legacy":
            if not inputs.opens or not inputs.messages:
                return inputs
            known: Sequence[Message] = self.inner.get_history()
        else:
            known, self.known = self.known, list(inputs.messages)
        return self.change_shortened(inputs, known) if len(inputs.messages) < len(known) else inputs


@suite_mutant("collected-history-comes-back")
class CollectedHistoryComesBack(_Watching):
    """The adapter remembers the whole conversation, and puts back what the session took out of it."""

    def change_shortened(self, inputs: CallInputs, known: Sequence[Message]) -> CallInputs:
        fresh = [message for message in inputs.messages if not any(same(message, one, ids=False) for one in known)]
        self.known = [*known, *fresh]
        return replace(inputs, messages=self.known)


@suite_mutant("tools-lost-in-a-collection")
class ToolsLostInACollection(_Watching):
    """The adapter starts anew with a shorter conversation, and forgets the tools."""

    def change_shortened(self, inputs: CallInputs, known: Sequence[Message]) -> CallInputs:
        return replace(inputs, tools=None)


@suite_mutant("collection-puts-it-out-of-step")
class CollectionPutsItOutOfStep(_Watching):
    """A conversation that is shorter than before is refused when the next call is made."""

    refused = ""

    def change_shortened(self, inputs: CallInputs, known: Sequence[Message]) -> CallInputs:
        self.refused = f"{len(known)} messages were there, now there are {len(inputs.messages)}"
        return inputs

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if self.refused:
            raise InvalidRequestError(self.refused)
        return proceed(inputs)


class _Cutting(Rewriting):
    """Takes a message more out of the start of a conversation that has been collected."""

    too_many: int

    def __init__(self) -> None:
        super().__init__()
        self._longest = 0
        self._collected = False

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        self._collected = self._collected or len(messages) < self._longest
        self._longest = max(self._longest, len(messages))
        if self._collected:
            del messages[self.too_many]


@suite_mutant("pairs-cut-in-a-collection")
class PairsCutInACollection(_Cutting):
    """History is cut so that a result stays without its call."""

    too_many = 1


@suite_mutant("user-cut-in-a-collection")
class UserCutInACollection(_Cutting):
    """History is cut behind a user's message, so that it begins with the answer."""

    too_many = 0


class NeedsTheConversationFromItsStart(Broken):
    """An object that has not held a conversation so far sends only what is new in it."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.has_opened = False

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        was_open, self.has_opened = self.has_opened, self.has_opened or not inputs.opens
        if was_open:
            return inputs
        return replace(inputs, messages=() if inputs.opens else list(inputs.messages[-1:]))


LoadedHistoryNotSent = suite_mutant("loaded-history-not-sent")(NeedsTheConversationFromItsStart)

LoadedToolLoopNotSent = suite_mutant("loaded-tool-loop-not-sent")(NeedsTheConversationFromItsStart)

FreshObjectKnowsNothing = suite_mutant("fresh-object-knows-nothing")(NeedsTheConversationFromItsStart)


@suite_mutant("word-said-on-opening")
class WordSaidOnOpening(Broken):
    """Opening an adapter says a word to the model, to see whether it is there."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        if path == "legacy":
            inner.send_message("Are you there?")
            inner.create_session()
        else:
            inner.complete([Message.user("Are you there?")])
