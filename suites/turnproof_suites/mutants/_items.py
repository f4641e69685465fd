"""What APIs with a flat list of items, and a service that stores it, have in common, where mutants are concerned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Protocol

import msgspec

from turnproof.dialects.base import HttpRequest

from ._typed_blocks import TypedBlocks
from ._wire import BlockKind, Json


class ItemsWire(TypedBlocks, Protocol):
    """A request names under `head_key` the stored answer that it goes on from; `other_model` is one more model.

    A thought is an item of the type `thought_type`, with what its service signed or sealed under `seal_key`. `kinds`
    has all other types, and `default_type` is that of an item that names none.
    """

    head_key: ClassVar[str]
    other_model: ClassVar[str]
    thought_type: ClassVar[str]
    seal_key: ClassVar[str]
    kinds: ClassVar[Mapping[str, BlockKind]]
    default_type: ClassVar[str] = ""

    def kind(self, block: Json) -> BlockKind:
        """A thought that is summed up counts as thinking, any other as encrypted."""
        if block.get("type") == self.thought_type:
            return "thinking" if block.get("summary") else "redacted"
        return self.kinds.get(block.get("type", self.default_type), "other")

    def strip_signature(self, block: Json) -> None:
        block.pop(self.seal_key, None)

    def edit_thinking(self, block: Json, edit: Callable[[str], str]) -> None:
        """What was thought is what is signed or sealed; the summary is about it."""
        block[self.seal_key] = edit(block[self.seal_key])

    def declared_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for tool in self.tools(body):
            if tool.get("type") == "function":
                yield tool, "name"

    def for_other_model(self, request: HttpRequest) -> HttpRequest:
        body = msgspec.json.decode(request.body) | {"model": self.other_model}
        return replace(request, body=msgspec.json.encode(body))

    def head(self, body: Json) -> str | None:
        return body.get(self.head_key)

    def set_head(self, body: Json, name: str | None) -> None:
        body.pop(self.head_key, None)
        if name is not None:
            body[self.head_key] = name

    def let_store(self, body: Json) -> None:
        body.pop("store", None)
