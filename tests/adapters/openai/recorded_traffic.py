"""Recorded traffic of OpenAI, Azure, Z.ai and Ollama in the chat API's format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordings.apis import OLLAMA_CHAT, OPENAI_CHAT, ZAI_CHAT, Api
from recordings.material import Exchange

from turnproof.dialects.base import Call
from turnproof.dialects.openai_chat import DIALECT
from turnproof.messages import FunctionCall, InlineData, Opaque, Part, ProviderResponse, Text, Thought
from turnproof_adapters._names import is_made_up

from ..contract.adapter_kit import AdapterKit
from ..contract.recorded_traffic import RecordedTraffic
from .kit import KIT


def request_body(exchange: Exchange) -> dict[str, Any]:
    return dict(exchange.source["request"].get("json") or {})


class ChatTraffic(RecordedTraffic):
    """Left out are requests for several choices, which nobody here makes: the adapter takes several for the parts of
    one answer. And those of the first models with eyes, which are gone: no other said in an object how it ended."""

    kit: AdapterKit = KIT
    dialect = DIALECT
    apis: Sequence[Api] = (OPENAI_CHAT, ZAI_CHAT, OLLAMA_CHAT)
    answers = 190
    conversations = 175
    returned_answers = 120

    def takes(self, exchange: Exchange) -> bool:
        return exchange.request.path.endswith("/chat/completions") and request_body(exchange).get("n", 1) in (1, None)

    def model(self, exchange: Exchange) -> str:
        return str(request_body(exchange).get("model") or "m")

    def is_streamed(self, exchange: Exchange) -> bool:
        return request_body(exchange).get("stream") is True

    def options(self, exchange: Exchange) -> dict[str, Any]:
        return {"thoughts_back": True}

    def comparable(self, parts: Sequence[Part]) -> list[Any]:
        """Texts and thoughts by their words, calls whole but for ids made up here."""
        return [
            (type(part), part.text)
            if isinstance(part, Text | Thought)
            else (part.name, part.args, "" if is_made_up(part.id) else part.id)
            for part in parts
            if isinstance(part, FunctionCall | Text | Thought)
        ]

    def is_sendable(self, exchange: Exchange, call: Call) -> bool:
        """Not with calls and tools of the old kind, or with what no adapter offers."""
        parts = [part for message in call.messages for part in message.parts]
        old = any(isinstance(part, FunctionCall) and part.id.startswith("#") for part in parts)
        native = any(tool.parameters.get("type") == tool.name for tool in call.tools)
        opaque = any(isinstance(part, Opaque) for part in parts)
        odd = any(isinstance(part, InlineData) and "/" not in part.mime_type for part in parts)
        return bool(request_body(exchange)) and not (old or native or opaque or odd)

    def is_returnable(self, response: ProviderResponse) -> bool:
        return bool(response.text) and not response.calls


TRAFFIC = ChatTraffic()
