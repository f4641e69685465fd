"""Answers as this service writes them: scripted replies in Anthropic's format with figures in other places, and the
operations that no script speaks of: a model list, and token counts that cannot be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON, Thought
from ..anthropic_messages.events import Block
from ..anthropic_messages.extras import listing, model_entry
from ..anthropic_messages.render import Answer
from ..anthropic_messages.writing import body_event
from ..base import Call, EventKind, PromptUsage, Rendered, World
from ..seeded_random import HEX, seeded_number, seeded_word
from .errors import render_refusal, route_error
from .models import SIGNS
from .rules import NAME
from .validate import unknown_model


class ZaiAnswer(Answer):
    """Usage is zero in `message_start` and stands in `message_delta` alone; no write, no TTL split; ids `call_...`."""

    dialect = NAME
    pings_after: EventKind | None = "start"

    def headers(self) -> dict[str, str]:
        """No header of the service's own is known."""
        return {}

    def new_call_id(self, n: int) -> str:
        return f"call_{seeded_word(HEX, 20, self.seed, 'call', n)}"

    def caller_field(self, n: int) -> Block:
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
        names = ("type", "role", "model", "content", "stop_reason", "stop_sequence", "usage")
        return {"id": f"msg_20260901{seeded_word(HEX, 16, self.seed, 'message')}"} | {key: whole[key] for key in names}

    def padding(self, serial: int) -> int:
        return 0


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `list_models` or `get_model`; to `count_tokens` a figure, a 404, or an error under status 200, as
    the seed has it (`zai.md` §2: be ready for all of them)."""
    status = 200
    body: JSON
    if call.operation == "count_tokens":
        match seeded_number(seed, "count") % 3:
            case 0:
                body = {"input_tokens": usage.whole}
            case 1:
                status, body = 404, route_error(404, "404 NOT_FOUND")
            case _:
                body = route_error(500, "404 NOT_FOUND")
    elif call.operation == "list_models":
        body = listing(world.models)
    else:
        facts = world.models.get(call.model or "")
        if facts is None:
            return render_refusal(unknown_model(), seed)
        body = model_entry(facts)
    return Rendered(status, {"content-type": "application/json"}, (body_event(body),))
