"""Recorded traffic of the Messages API."""

from __future__ import annotations

from collections.abc import Sequence

from recordings.apis import ANTHROPIC
from recordings.material import Exchange

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call
from turnproof.messages import Part, Text

from ..contract.recorded_traffic import RecordedTraffic
from .kit import KIT


class MessagesTraffic(RecordedTraffic):
    kit = KIT
    dialect = DIALECT
    apis = (ANTHROPIC,)
    answers = 150
    conversations = 120
    returned_answers = 135

    def takes(self, exchange: Exchange) -> bool:
        return exchange.request.path.endswith("/messages")

    def model(self, exchange: Exchange) -> str:
        return str(exchange.source["request"]["json"]["model"])

    def comparable(self, parts: Sequence[Part]) -> list[Part]:
        return [part for part in parts if not isinstance(part, Text) or part.text]

    def is_sendable(self, exchange: Exchange, call: Call) -> bool:
        return all("input_schema" in tool for tool in exchange.source["request"]["json"].get("tools") or ())


TRAFFIC = MessagesTraffic()
