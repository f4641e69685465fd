"""A proxy in front of a service that stores answers: it knows every answer that was given, and what each goes on from.

A subclass says what a request names and has instead. Dialects whose service stores nothing pass through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from turnproof.dialects.base import Call, Rendered

from ._rewriting import Rewriting
from ._wire import Json, Wire


class BrokenChain(Rewriting):
    """Passes everything on, and remembers.

    `answers` are the ids of all answers so far, in order, whatever became of them; `conversations` is the whole
    conversation up to the end of each, as messages of blocks in the form of `Wire.to_messages`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str] = []
        self.conversations: dict[str, list[Json]] = {}
        self._messages: list[Json] = []
        self._before: str | None = None

    def change_request(self, wire: Wire, body: Json) -> None:
        """What the adapter sent is put down, then changed."""
        self._before = wire.head(body)
        self._messages = _copy(wire.messages(body))
        self.change_chain(wire, body, self._before)

    def change_chain(self, wire: Wire, body: Json, head: str | None) -> None:
        """Change the body, which goes on from `head`, in place."""

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """The answer as it is, unless a subclass changes documents."""
        if self._wire is not None and call.operation == "generate" and rendered.status == 200:
            self._remember(self._wire, rendered)
        return super().response(call, rendered)

    def _remember(self, wire: Wire, rendered: Rendered) -> None:
        documents = [document for event in rendered.events if (document := wire.document(event)) is not None]
        name = next((name for document in documents if (name := wire.answer_id(document)) is not None), None)
        if name is None:
            return
        if name not in self.answers:
            self.answers.append(name)
        answer = wire.answer_message(documents[-1])
        earlier = self.conversations.get(self._before or "", [])
        self.conversations[name] = [*earlier, *self._messages, *([answer] if answer is not None else [])]


def _copy(messages: Sequence[Json]) -> list[Any]:
    found: list[Any] = msgspec.json.decode(msgspec.json.encode(messages))
    return found
