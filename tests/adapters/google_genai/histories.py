"""Conversations with what this API has: its ids, its marks and its signatures."""

from __future__ import annotations

import random
from collections.abc import Sequence

from turnproof.messages import (
    CacheMark,
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    ProviderData,
    Text,
    Thought,
    ToolResult,
    ToolSchema,
)

from ..histories import WORDS, RandomConversations, ordinary
from .kit import MODEL, SIGNATURE

TOOLS = [
    ToolSchema("mcp/files read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSchema("plain", "", {}),
]

_WORDS = [*WORDS, ""]


def issued(model: str = MODEL, signature: str = SIGNATURE) -> ProviderData:
    return ProviderData("gemini", model, {"signature": signature})


def grown(length: int) -> list[Message]:
    """An ordinary conversation with tool rounds."""
    return ordinary(length, "c", issued())


def rich() -> list[Message]:
    """One of everything that the API has a form for."""
    ran = ProviderData("gemini", MODEL, {"id": "x1"})
    return [
        Message.user("look", InlineData("image/png", b"\xfb\xff\xfe"), FileRef("application/pdf", "gs://a/b.pdf")),
        Message.model(
            Thought("hm", provider_data=issued()),
            "two things",
            FunctionCall("a", "plain", {"deep": [1, 2.5, None, {"x": "’北"}]}, provider_data=issued()),
            FunctionCall("b", "mcp/files read", {}),
        ),
        Message.tool(
            ToolResult("b", "mcp/files read", "no such file", is_error=True),
            ToolResult("a", "plain", None, attachments=(InlineData("image/png", b"\x00\xff"), FileRef("audio/x", "u"))),
        ),
        Message.model(
            ExecutableCode("PYTHON", "print(1)", provider_data=ran),
            CodeExecutionResult("OUTCOME_OK", "1\n", provider_data=ran),
            Opaque("gemini", "toolCall", {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}}),
            Text("", provider_data=issued()),
        ),
        Message.user("thanks"),
    ]


FIRST, LAST = Message.user("hi"), Message.user("so?")


def framed(messages: Sequence[Message]) -> list[Message]:
    """The conversation between two messages of the user: whatever stands in it, the API is asked something."""
    return [FIRST, *messages, LAST]


def _id(rng: random.Random) -> str:
    return rng.choice(["c1", "c2", "call 1", "functions.x:0", "’", "unnamed-0123456789abcdef-0"])


def _result(rng: random.Random) -> ToolResult:
    value = rng.choice(["", "ok", {"a": 1.5}, None, [True]])
    attachments = (InlineData(rng.choice(["image/png", "audio/wav"]), b"\x89"),) if rng.random() < 0.3 else ()
    return ToolResult(_id(rng), _name(rng), value, rng.random() < 0.2, attachments)


def _name(rng: random.Random) -> str:
    return rng.choice([tool.name for tool in TOOLS])


def _user_part(rng: random.Random) -> Part:
    if rng.random() < 0.2:
        return InlineData("image/png", b"\x89", cache=CacheMark() if rng.random() < 0.3 else None)
    return Text(rng.choice(_WORDS))


def _model_part(rng: random.Random) -> Part:
    origin = rng.choice(
        [None, issued(), issued("gemini-2.5-pro"), ProviderData("anthropic-messages", "claude", {"signature": "s=="})]
    )
    match rng.randrange(3):
        case 0:
            return FunctionCall(_id(rng), _name(rng), {"x": rng.choice(_WORDS)}, provider_data=origin)
        case 1:
            return Thought(rng.choice(_WORDS), provider_data=origin)
        case _:
            return Text(rng.choice(_WORDS), provider_data=origin)


_CONVERSATIONS = RandomConversations(_WORDS, _result, _user_part, _model_part)


def arbitrary(seed: int) -> list[Message]:
    """A conversation in which anything may follow anything, ids clash, and parts are marked."""
    return _CONVERSATIONS.conversation(seed)
