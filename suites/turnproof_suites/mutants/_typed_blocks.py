"""What the APIs of Anthropic and OpenAI have in common, where mutants are concerned: messages with a role and typed
blocks, and tools in a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol

from turnproof.dialects.base import WireEvent

from ._events import document_of
from ._wire import BlockKind, Json, Wire


class TypedBlocks(Wire, Protocol):
    """A call has its id under `call_id_key`, a result that of its call under `result_id_key`."""

    call_id_key: ClassVar[str]
    result_id_key: ClassVar[str]

    def messages(self, body: Json) -> list[Json]:
        found: list[Json] = body["messages"]
        return found

    def spoken_by_model(self, message: Json) -> bool:
        return bool(message["role"] == "assistant")

    def blank_block(self) -> Json:
        return self.text_block("")

    def call_ids(self, body: Json) -> Iterator[tuple[Json, str]]:
        return ((call, self.call_id_key) for call in self.of_kind(body, "call"))

    def result_ids(self, body: Json) -> Iterator[tuple[Json, str]]:
        return ((result, self.result_id_key) for result in self.of_kind(body, "result"))

    def tools(self, body: Json) -> list[Json]:
        found: list[Json] = body.get("tools") or []
        return found

    def document(self, event: WireEvent) -> Json | None:
        return document_of(event)

    def of_kind(self, body: Json, kind: BlockKind) -> Iterator[Json]:
        """Every block of a kind in a request."""
        for message in self.messages(body):
            for block in self.blocks(message):
                if self.kind(block) == kind:
                    yield block
