"""Conversations with what this API has: its ids, its marks and its signatures."""

from __future__ import annotations

import random

from turnproof.messages import (
    CacheMark,
    FunctionCall,
    InlineData,
    Message,
    Part,
    ProviderData,
    Text,
    Thought,
    ToolResult,
    ToolSchema,
)

from ..histories import WORDS, RandomConversations, ordinary
from .kit import DATED

TOOLS = [
    ToolSchema("mcp.files/read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSchema("plain", "", {}),
]


def ordinary_conversation(length: int) -> list[Message]:
    """An ordinary conversation with tool rounds."""
    return ordinary(length, "toolu_")


def _mark(rng: random.Random) -> CacheMark | None:
    return CacheMark() if rng.random() < 0.1 else None


def _id(rng: random.Random) -> str:
    return rng.choice(["toolu_1", "toolu_2", "call 1", "functions.x:0", "’"])


def _result(rng: random.Random) -> ToolResult:
    value = rng.choice(["", "ok", {"a": 1.5}, None, [True]])
    attachments = (InlineData("image/png", b"\x89"),) if rng.random() < 0.2 else ()
    return ToolResult(_id(rng), "plain", value, rng.random() < 0.2, attachments, cache=_mark(rng))


def _user_part(rng: random.Random) -> Part:
    if rng.random() < 0.2:
        return InlineData("image/png", b"\x89", cache=_mark(rng))
    return Text(rng.choice(WORDS), cache=_mark(rng))


def _model_part(rng: random.Random) -> Part:
    match rng.randrange(3):
        case 0:
            return FunctionCall(_id(rng), rng.choice([tool.name for tool in TOOLS]), {"x": rng.choice(WORDS)})
        case 1:
            return Thought("hm", provider_data=ProviderData("anthropic-messages", DATED, {"signature": "s=="}))
        case _:
            return Text(rng.choice(WORDS), cache=_mark(rng))


_CONVERSATIONS = RandomConversations(WORDS, _result, _user_part, _model_part)


def arbitrary(seed: int) -> list[Message]:
    """A conversation in which anything may follow anything, ids clash, and parts are marked."""
    return _CONVERSATIONS.conversation(seed)
