"""Conversations with what this API has: its ids, its marks and its signatures."""

from __future__ import annotations

import random
from collections.abc import Sequence

from turnproof import messages as m

from ..histories import WORDS, RandomConversations, ordinary
from .kit import MODEL, SIGNATURE

TOOLS = [
    m.ToolSchema("mcp/files read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    m.ToolSchema("plain", "", {}),
]

_WORDS = [*WORDS, ""]


def issued(model: str = MODEL, signature: str = SIGNATURE) -> m.ProviderData:
    return m.ProviderData("gemini", model, {"signature": signature})


def ordinary_conversation(length: int) -> list[m.Message]:
    """An ordinary conversation with tool rounds."""
    return ordinary(length, "c", issued())


def rich() -> list[m.Message]:
    """One of everything that the API has a form for."""
    code_data = m.ProviderData("gemini", MODEL, {"id": "x1"})
    return [
        m.Message.user(
            "look", m.InlineData("image/png", b"\xfb\xff\xfe"), m.FileRef("application/pdf", "gs://a/b.pdf")
        ),
        m.Message.model(
            m.Thought("hm", provider_data=issued()),
            "two things",
            m.FunctionCall("a", "plain", {"deep": [1, 2.5, None, {"x": "’北"}]}, provider_data=issued()),
            m.FunctionCall("b", "mcp/files read", {}),
        ),
        m.Message.tool(
            m.ToolResult("b", "mcp/files read", "no such file", is_error=True),
            m.ToolResult(
                "a", "plain", None, attachments=(m.InlineData("image/png", b"\x00\xff"), m.FileRef("audio/x", "u"))
            ),
        ),
        m.Message.model(
            m.ExecutableCode("PYTHON", "print(1)", provider_data=code_data),
            m.CodeExecutionResult("OUTCOME_OK", "1\n", provider_data=code_data),
            m.Opaque("gemini", "toolCall", {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}}),
            m.Text("", provider_data=issued()),
        ),
        m.Message.user("thanks"),
    ]


FIRST, LAST = m.Message.user("hi"), m.Message.user("so?")


def framed(messages: Sequence[m.Message]) -> list[m.Message]:
    """The conversation between two messages of the user: whatever stands in it, the API is asked something."""
    return [FIRST, *messages, LAST]


def _id(rng: random.Random) -> str:
    return rng.choice(["c1", "c2", "call 1", "functions.x:0", "’", "unnamed-0123456789abcdef-0"])


def _result(rng: random.Random) -> m.ToolResult:
    value = rng.choice(["", "ok", {"a": 1.5}, None, [True]])
    attachments = (m.InlineData(rng.choice(["image/png", "audio/wav"]), b"\x89"),) if rng.random() < 0.3 else ()
    return m.ToolResult(_id(rng), _name(rng), value, rng.random() < 0.2, attachments)


def _name(rng: random.Random) -> str:
    return rng.choice([tool.name for tool in TOOLS])


def _user_part(rng: random.Random) -> m.Part:
    if rng.random() < 0.2:
        return m.InlineData("image/png", b"\x89", cache=m.CacheMark() if rng.random() < 0.3 else None)
    return m.Text(rng.choice(_WORDS))


def _model_part(rng: random.Random) -> m.Part:
    origin = rng.choice(
        [None, issued(), issued("gemini-2.5-pro"), m.ProviderData("anthropic-messages", "claude", {"signature": "s=="})]
    )
    match rng.randrange(3):
        case 0:
            return m.FunctionCall(_id(rng), _name(rng), {"x": rng.choice(_WORDS)}, provider_data=origin)
        case 1:
            return m.Thought(rng.choice(_WORDS), provider_data=origin)
        case _:
            return m.Text(rng.choice(_WORDS), provider_data=origin)


_CONVERSATIONS = RandomConversations(_WORDS, _result, _user_part, _model_part)


def arbitrary(seed: int) -> list[m.Message]:
    """A conversation in which anything may follow anything, ids clash, and parts are marked."""
    return _CONVERSATIONS.conversation(seed)
