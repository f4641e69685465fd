"""Adapters that spoil the prefix cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from turnproof.errors import AuthenticationError, CacheExpiredError
from turnproof.messages import Message, Text

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting, every_block
from ._wire import Json, Wire
from .failures import MisnamedError


@suite_mutant("message-marks-dropped")
class MessageMarksDropped(Rewriting):
    """Breakpoints are set on system text and tools, and never on the history."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for block in every_block(wire, body):
            wire.clear_mark(block)


@suite_mutant("five-marks")
class FiveMarks(Rewriting):
    """Every message of the user gets a breakpoint."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            if not wire.spoken_by_model(message):
                wire.set_mark(wire.blocks(message)[-1])


@suite_mutant("tool-order-unstable")
class ToolOrderUnstable(Rewriting):
    """Tools go out in another order in every second request."""

    count = 0

    def change_request(self, wire: Wire, body: Json) -> None:
        self.count += 1
        if self.count % 2 == 0:
            wire.tools(body).reverse()


@suite_mutant("clock-in-the-prompt")
class ClockInThePrompt(Broken):
    """The system text begins with something that is new in every call."""

    ticks = 0

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.ticks += 1
        text = inputs.system if isinstance(inputs.system, str) or inputs.system is None else inputs.system.text
        return replace(inputs, system=f"It is tick {self.ticks}.\n{text}")


@suite_mutant("only-last-mark-sent")
class OnlyLastMarkSent(Broken):
    """Of several breakpoints in the history only the last one goes out."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        marked = [message for message in inputs.messages if _is_marked(message)]
        unmark = {message: _unmarked(message) for message in marked[:-1]}
        return replace(inputs, messages=[unmark.get(message, message) for message in inputs.messages])


@suite_mutant("managed-name-not-sent")
class ManagedNameNotSent(Broken):
    """The prefix is stored, and every request carries it all the same."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        system = inputs.system.text if isinstance(inputs.system, Text) else inputs.system
        tools = None if inputs.tools is None else [changed(tool, cache=None) for tool in inputs.tools]
        return replace(inputs, system=system, tools=tools)


@suite_mutant("managed-cache-made-twice")
class ManagedCacheMadeTwice(Broken):
    """Two objects of an adapter that know nothing of each other store the same prefix."""

    def create_cache(self, *prefix: Any, **options: Any) -> Any:
        """Store it for one, and for the other."""
        self.inner.create_cache(*prefix, **options)
        return self.inner.create_cache(*prefix, **options)


@suite_mutant("lost-cache-is-a-missing-permission")
class LostCacheIsAMissingPermission(MisnamedError):
    """The refusal is taken for what its status says: the key may not do this."""

    classes = CacheExpiredError, AuthenticationError


@suite_mutant("managed-cache-left-behind")
class ManagedCacheLeftBehind(Broken):
    """Shutting down lets go of connections, and of nothing that was stored."""

    def shutdown(self) -> None:
        """Leave everything as it is."""


def _is_marked(message: Message) -> bool:
    return any(part.cache is not None for part in message.parts)


def _unmarked(message: Message) -> Message:
    return changed(message, parts=tuple(changed(part, cache=None) for part in message.parts))


@suite_mutant("mark-stays-at-the-start")
class MarkStaysAtTheStart(Rewriting):
    """The breakpoint of the history stays where it was set first, however long the history grows."""

    def change_request(self, wire: Wire, body: Json) -> None:
        blocks = every_block(wire, body)
        for block in blocks:
            wire.clear_mark(block)
        wire.set_mark(blocks[0])
