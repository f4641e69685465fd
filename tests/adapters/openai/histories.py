"""Conversations with what this API has: its ids, its marks and its signatures."""

from __future__ import annotations

import random

from turnproof.messages import FunctionCall, InlineData, Message, Part, Text, ToolResult, ToolSchema

from ..histories import WORDS, RandomConversations, ordinary
from .kit import thought

TOOLS = [
    ToolSchema("mcp.files/read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSchema("plain", "", {}),
]

_WORDS = [*WORDS, ""]


def ordinary_conversation(length: int) -> list[Message]:
    """An ordinary conversation with tool rounds."""
    return ordinary(length, "call_")


def _id(rng: random.Random) -> str:
    return rng.choice(["call_1", "call_2", "call 1", "", "’", "x" * 41])


def _result(rng: random.Random) -> ToolResult:
    value = rng.choice(["", "ok", {"a": 1.5}, None, [True]])
    attachments = (InlineData("image/png", b"\x89"),) if rng.random() < 0.2 else ()
    return ToolResult(_id(rng), "plain", value, rng.random() < 0.2, attachments)


def _user_part(rng: random.Random) -> Part:
    return InlineData("image/png", b"\x89") if rng.random() < 0.2 else Text(rng.choice(_WORDS))


def _model_part(rng: random.Random) -> Part:
    match rng.randrange(3):
        case 0:
            return FunctionCall(_id(rng), rng.choice([tool.name for tool in TOOLS]), {"x": rng.choice(_WORDS)})
        case 1:
            return thought("hm")
        case _:
            return Text(rng.choice(_WORDS))


_CONVERSATIONS = RandomConversations(_WORDS, _result, _user_part, _model_part)


def arbitrary(seed: int) -> list[Message]:
    """A conversation in which anything may follow anything, and ids clash or are too long."""
    return _CONVERSATIONS.conversation(seed)
