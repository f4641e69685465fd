"""Recorded traffic of the Gemini API and of Vertex AI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from recordings.apis import GEMINI
from recordings.material import Exchange

from turnproof.dialects.base import Call, WireDifference
from turnproof.dialects.gemini import DIALECT
from turnproof.messages import FunctionCall, Part, Text
from turnproof_adapters.google_genai.names import is_made_up

from ..contract.recorded_traffic import RecordedTraffic
from .kit import KIT

VERTEX = {"project": "p", "location": "l"}
_MODEL = re.compile(r"models/(?P<name>[^/:]+):(?:streamG|g)enerateContent$")


class GeminiTraffic(RecordedTraffic):
    kit = KIT
    dialect = DIALECT
    apis = (GEMINI,)
    answers = 130
    conversations = 115
    returned_answers = 120

    def takes(self, exchange: Exchange) -> bool:
        """As the SDK asks: other clients had numbers sent in place of words, or a stream as one JSON array."""
        path, query = exchange.request.path, exchange.request.query
        return (
            _MODEL.search(path) is not None
            and "$alt" not in query
            and (query.get("alt") == "sse" or not path.endswith("streamGenerateContent"))
        )

    def model(self, exchange: Exchange) -> str:
        found = _MODEL.search(exchange.request.path)
        assert found is not None
        return found["name"]

    def options(self, exchange: Exchange) -> dict[str, Any]:
        return {"vertexai": VERTEX} if "/publishers/" in exchange.request.path else {}

    def comparable(self, parts: Sequence[Part]) -> list[Any]:
        """Without made-up ids, and each part with its signature."""
        found = []
        for part in parts:
            data = part.provider_data.data if part.provider_data is not None else {}
            signature = data.get("signature")
            if isinstance(part, Text) and not part.text and signature is None:
                continue
            if isinstance(part, FunctionCall) and is_made_up(part.id):
                part = replace(part, id="")
            found.append((replace(part, provider_data=None), signature))
        return found

    def is_sendable(self, exchange: Exchange, call: Call) -> bool:
        return all(
            key.lower().startswith("functiondecl") or key.startswith("function_decl")
            for tool in exchange.source["request"]["json"].get("tools") or ()
            for key in tool
        )

    def is_made_up(self, difference: WireDifference) -> bool:
        """Older answers of models that give ids today have none, and an id that was made up is not sent."""
        return difference.what == "unlisted" and is_made_up(str(difference.held))


TRAFFIC = GeminiTraffic()
