"""Conversations of many shapes, made from a seed: what a converter must survive, legal or not."""

from __future__ import annotations

import random

from turnproof.messages import FunctionCall, InlineData, Message, Part, Text, ToolResult, ToolSchema

from .kit import thought

TOOLS = [
    ToolSchema("mcp.files/read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSchema("plain", "", {}),
]

_WORDS = ["yes", "’北🌍", 'quote " and \\', "line\nbreak", "\u2028", "tab\t\x7f", " ", ""]


def grown(length: int) -> list[Message]:
    """An ordinary conversation with tool rounds."""
    messages: list[Message] = []
    for n in range(length):
        match n % 4:
            case 0:
                messages.append(Message.user(f"question {n}"))
            case 1:
                messages.append(Message.model(f"let me look {n}", FunctionCall(f"call_{n}", "plain", {"n": n})))
            case 2:
                messages.append(Message.tool(ToolResult(f"call_{n - 1}", "plain", {"rows": [n, None, "’北"]})))
            case _:
                messages.append(Message.model(f"answer {n}"))
    return messages


def arbitrary(seed: int) -> list[Message]:
    """A conversation in which anything may follow anything, and ids clash or are too long."""
    rng = random.Random(seed)
    return [_message(rng) for _ in range(rng.randrange(1, 14))]


def _message(rng: random.Random) -> Message:
    role = rng.choice(["user", "model", "tool", "system"])
    count = rng.randrange(0, 4)
    match role:
        case "tool":
            return Message.tool(*(_result(rng) for _ in range(count)))
        case "system":
            return Message.system(rng.choice(_WORDS))
        case "model":
            return Message("model", tuple(_model_part(rng) for _ in range(count)))
        case _:
            return Message("user", tuple(_user_part(rng) for _ in range(count)))


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
