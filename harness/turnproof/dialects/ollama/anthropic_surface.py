"""A reply as the Anthropic-compatible surface writes it: few figures, no signatures, no pings, calls in one piece."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...messages import FunctionCall, Thought
from ..anthropic_messages.events import Block
from ..anthropic_messages.render import Answer
from ..base import Call, EventKind, PromptUsage, Rendered, Reply, ReplyPart, World
from ..seeded_random import HEX, seeded_number, seeded_word
from .finishes import done_reason, stop_reason
from .reply_message import in_one
from .rules import NAME


def render(call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to a call of `/v1/messages`."""
    return AnthropicSurfaceAnswer.rendered(call, in_one(reply, seed), usage, world, seed)


class AnthropicSurfaceAnswer(Answer):
    """`ollama.md` §2: the input is an estimate in `message_start` and counted in `message_delta`; what is empty is left
    out, and `content` is null where nothing was produced."""

    dialect = NAME
    pings_after: EventKind | None = None

    def __init__(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        super().__init__(call, reply, usage, world, seed)
        # A tag is no other name: the answer names the model as it was asked for.
        self.model = str(call.model)

    def headers(self) -> dict[str, str]:
        return {}

    def caller_field(self, n: int) -> Block:
        return {}

    def signature(self, part: Thought, data: Mapping[str, Any], n: int) -> str | None:
        return None

    def written_finish(self) -> str:
        calls = any(isinstance(part.part, FunctionCall) for part in self.reply.parts)
        return stop_reason(done_reason(self.reply.finish, self.reply.raw_finish), calls=calls)

    def opening_usage(self) -> Block:
        whole = self.closing_usage()["input_tokens"]
        return {"input_tokens": whole - whole * (seeded_number(self.seed, "estimate") % 16) // 100, "output_tokens": 0}

    def closing_usage(self) -> Block:
        figures = self.reply.usage
        scripted = sum(figures.get(name, 0) for name in ("fresh", "cache_read", "cache_write"))
        return {"input_tokens": scripted or self.prompt.whole, "output_tokens": self.output_tokens}

    def whole_usage(self) -> Block:
        return self.closing_usage()

    def message(self, usage: Block, *, content: list[Block], stop_reason: str | None) -> Block:
        whole = {
            "id": f"msg_{seeded_word(HEX, 24, self.seed, 'message')}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content if content or stop_reason is None else None,
        }
        return whole | ({"stop_reason": self.stop_reason} if stop_reason is not None else {}) | {"usage": usage}

    def ending(self) -> Block:
        return {"stop_reason": self.stop_reason}

    def argument_pieces(self, reply_part: ReplyPart, draw: int) -> tuple[str, ...]:
        assert isinstance(reply_part.part, FunctionCall)
        return (msgspec.json.encode(reply_part.part.args).decode(),)

    def padding(self, serial: int) -> int:
        return 0
