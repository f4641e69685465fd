"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it."""

from __future__ import annotations

from ..anthropic.plain import MessagesCreate
from .service import SERVICE


class OllamaMessagesCreate(MessagesCreate):
    """The same call as for Anthropic, with what this server takes; see `turnproof.provider.PlainCall`."""

    service = SERVICE
    name = SERVICE.name
