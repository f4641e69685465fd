"""What APIs with a flat list of items, and a service that stores it, have in common, where mutants are concerned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Protocol

import msgspec

from turnproof.dialects.base import HttpRequest

from ._typed_blocks import TypedBlocks
from ._wire import Json


class ItemsWire(TypedBlocks, Protocol):
    """A request names under `head_key` the stored answer that it goes on from; `other_model` is one more model."""

    head_key: ClassVar[str]
    other_model: ClassVar[str]

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
