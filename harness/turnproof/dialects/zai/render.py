"""A neutral reply as this service writes it: Anthropic's format with figures in other places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Thought
from ..anthropic_messages.events import Block
from ..anthropic_messages.render import Answer
from ..base import EventKind
from ..seeded_random import HEX, drawn
from .models import SIGNS
from .rules import NAME


class ZaiAnswer(Answer):
    """Usage is zero in `message_start` and stands in `message_delta` alone; no write, no TTL split; ids `call_...`."""

    dialect = NAME
    pings_after: EventKind | None = "start"

    def headers(self) -> dict[str, str]:
        """No header of the service's own is known."""
        return {}

    def identify(self, n: int) -> str:
        return f"call_{drawn(HEX, 20, self.seed, 'call', n)}"

    def called_by(self, n: int) -> Block:
        return {}

    def signature(self, part: Thought, data: Mapping[str, Any], n: int) -> str | None:
        signs = self.facts is not None and SIGNS in self.facts.features
        return super().signature(part, data, n) if signs or data.get("signature") else None

    def opening_usage(self) -> Block:
        return {"input_tokens": 0, "output_tokens": 0}

    def closing_usage(self) -> Block:
        figures = self.reply.usage
        return {
            "input_tokens": figures.get("fresh", self.prompt.fresh),
            "output_tokens": self.output_tokens,
            "cache_read_input_tokens": figures.get("cache_read", self.prompt.cache_read),
        }

    def whole_usage(self) -> Block:
        return self.closing_usage()

    def message(self, usage: Block, *, content: list[Block], stop_reason: str | None) -> Block:
        whole = super().message(usage, content=content, stop_reason=stop_reason)
        kept = ("type", "role", "model", "content", "stop_reason", "stop_sequence", "usage")
        return {"id": f"msg_20260901{drawn(HEX, 16, self.seed, 'message')}"} | {key: whole[key] for key in kept}

    def padding(self, serial: int) -> int:
        return 0
