"""A conversation as plain data: what the SDK's own calls take, and what a program is told in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from turnproof.messages import Message

from .arrange import Arrangement
from .blocks import row
from .service import Service


class DictCodec:
    """Blocks and wire messages as dictionaries."""

    def block(self, block: dict[str, Any]) -> dict[str, Any]:
        """One block."""
        return block

    def message(self, role: str, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """One wire message."""
        return {"role": role, "content": list(blocks)}


def arrange_messages(messages: Iterable[Message], service: Service, model: str) -> Arrangement[dict[str, Any]]:
    """The conversation, arranged for a model of a service and not finished yet."""
    codec = DictCodec()
    arrangement: Arrangement[dict[str, Any]] = Arrangement(codec, service, service.models.model(model))
    for message in messages:
        arrangement.add(row(message, codec, service, model))
    return arrangement
