"""Adapters that fail where no session ever reaches them: with broken histories, and beside `complete()`."""

from __future__ import annotations

import msgspec

from turnproof.messages import FunctionCall, Message, Part, ProviderResponse

from ._broken import Broken, BrokenCount, CallInputs, Proceed
from ._mutant import suite_mutant
from ._rewriting import Rewriting, keep_only
from ._wire import Json, Wire


@suite_mutant("empty-history-crashes")
class EmptyHistoryCrashes(Broken):
    """The first message is looked at before anybody has asked whether there is one."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        self.first = inputs.messages[0]
        return proceed(inputs)


@suite_mutant("result-without-call-crashes")
class ResultWithoutCallCrashes(Broken):
    """The name of a result's tool is looked up under its call, which is taken to be there."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        names = {call.id: call.name for message in inputs.messages for call in message.calls}
        for message in inputs.messages:
            for result in message.results:
                names[result.call_id]
        return proceed(inputs)


@suite_mutant("broken-pairs-sent")
class BrokenPairsSent(Rewriting):
    """Calls without a result get none."""

    # What the tools of its scenario return: any other result was made up by the adapter.
    RESULTS = (b"41 %", b"12 %", b"no rain")

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            keep_only(wire.blocks(message), lambda block: wire.kind(block) != "result" or self._was_told(block))

    def _was_told(self, block: Json) -> bool:
        return any(result in msgspec.json.encode(block) for result in self.RESULTS)


@suite_mutant("last-message-counted")
class LastMessageCounted(BrokenCount):
    """Only the last message counts in `count_tokens()`."""

    def count(self, inputs: CallInputs) -> int:
        counted: int = self.inner.count_tokens(inputs.messages[-1:], inputs.system, inputs.tools)
        return counted


@suite_mutant("system-text-uncounted")
class SystemTextUncounted(BrokenCount):
    """System text and tools are left out of `count_tokens()`."""

    def count(self, inputs: CallInputs) -> int:
        counted: int = self.inner.count_tokens(inputs.messages)
        return counted


class _OtherHistory(Broken):
    """Brings messages back changed."""

    def deserialize_history(self, data: str) -> list[Message]:
        """The messages."""
        return [self.changed(message) for message in self.inner.deserialize_history(data)]

    def changed(self, message: Message) -> Message:
        """The message instead."""
        return message


@suite_mutant("serialised-without-ids")
class SerialisedWithoutIds(_OtherHistory):
    """Messages come back under new ids."""

    def changed(self, message: Message) -> Message:
        return Message(message.role, message.parts)


@suite_mutant("serialised-texts-as-numbers")
class SerialisedTextsAsNumbers(_OtherHistory):
    """Texts in the arguments of a call that look like numbers come back as numbers."""

    def changed(self, message: Message) -> Message:
        return Message(message.role, tuple(map(_with_numbers, message.parts)), message.message_id)


def _with_numbers(part: Part) -> Part:
    if not isinstance(part, FunctionCall):
        return part
    return msgspec.structs.replace(part, args=_numbered(msgspec.to_builtins(part.args)))


def _numbered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _numbered(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbered(item) for item in value]
    return int(value) if isinstance(value, str) and value.isdecimal() else value
