"""Conversations as the bytes of the Messages API; `_encoded_messages` keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .. import _encoded_messages
from .._encoded_messages import encode
from .arrange import Arrangement
from .blocks import row
from .service import Service


class BytesCodec:
    """Blocks and wire messages as JSON fragments."""

    def block(self, block: dict[str, Any]) -> bytes:
        """One block."""
        return encode(block)

    def message(self, role: str, blocks: Sequence[bytes]) -> bytes:
        """One wire message of finished blocks."""
        return b'{"role":"%b","content":[%b]}' % (role.encode(), b",".join(blocks))


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Wire messages as bytes for one model of a service."""

    def __init__(self, service: Service, model: str) -> None:
        codec = BytesCodec()
        fresh = partial(Arrangement[bytes], codec, service, service.facts(model))
        super().__init__(fresh, partial(row, codec=codec, service=service, model=model))
