"""Freedoms of what no session does: what becomes of a broken history, and how tokens are counted and texts written."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse, dump_messages

from ..mutants import Broken, BrokenCount, CallInputs, Proceed
from ._right import right


@right("broken-histories-refused")
class _BrokenHistoriesRefused(Broken):
    """A history that the API would refuse is refused by the adapter itself, and not mended."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        called = [call.id for message in inputs.messages for call in message.calls]
        answered = [result.call_id for message in inputs.messages for result in message.results]
        if not inputs.messages or not all(message.parts for message in inputs.messages):
            raise InvalidRequestError("a conversation needs messages, and each of them a part", status=None)
        if called != answered and sorted(called) != sorted(answered):
            raise InvalidRequestError("each call needs one result, and each result its call", status=None)
        return super().call(inputs, proceed)


@right("tokens-counted-by-characters")
class _TokensCountedByCharacters(BrokenCount):
    """`count_tokens()` estimates by the characters of the prompt, as the contract allows."""

    def count(self, inputs: CallInputs) -> int:
        system = inputs.system if isinstance(inputs.system, str) else getattr(inputs.system, "text", "")
        return 1 + (len(dump_messages(inputs.messages)) + len(system or "") + len(repr(inputs.tools or ""))) // 4


@right("history-serialised-in-base64")
class _HistorySerialisedInBase64(Broken):
    """The text of a history is no JSON: only that it comes back counts."""

    def serialize_history(self, history: Sequence[Message]) -> str:
        """The text."""
        return base64.b64encode(self.inner.serialize_history(history).encode()).decode()

    def deserialize_history(self, data: str) -> list[Message]:
        """Its messages."""
        loaded: list[Message] = self.inner.deserialize_history(base64.b64decode(data).decode())
        return loaded
