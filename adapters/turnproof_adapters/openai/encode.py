"""Conversations, and whole requests, as the bytes of the chat API; `_encoded_messages` keeps what was encoded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from turnproof.provider import SystemInstruction

from .. import _encoded_messages
from .._encoded_messages import encode, request_body
from . import convert
from .arrange import Arrangement
from .request import Settings
from .rows import Codec, row
from .service import Service


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Wire messages as bytes, for one model of a service."""

    def __init__(self, service: Service, model: str) -> None:
        codec: Codec[bytes] = encode
        fresh = partial(Arrangement[bytes], codec, service, model)
        super().__init__(fresh, partial(row, codec=codec, service=service, model=model))


def body(
    arranged: Arrangement[bytes],
    settings: Settings,
    system: SystemInstruction,
    fields: Mapping[str, Any],
    *,
    stream: bool,
) -> bytes:
    """A request of this conversation, with its fields in the order in which the official SDK writes them. Ends the
    arrangement."""
    sent = arranged.finish()
    if (first := convert.system(system, settings.service)) is not None:
        sent.insert(0, encode(first))
    opening = {"model": settings.model, **({"stream": True} if stream else {})}
    return request_body(opening, "messages", sent, fields)
