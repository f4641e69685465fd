"""The one token estimator: counts, usage, cache thresholds, budgets and context limits all come from here.

It is a ruler, not a tokenizer: four bytes of UTF-8 make a token, rounded up for each piece of text. What matters
is that every figure of a run is measured with the same ruler, that equal text always measures the same, and that
a longer prompt never measures less.
"""

from __future__ import annotations

import json
from weakref import WeakKeyDictionary

import msgspec

from .messages import (
    JSON,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Part,
    Text,
    Thought,
    ToolResult,
    ToolSchema,
    to_builtins,
)

BYTES_A_TOKEN = 4

IMAGE_TOKENS = 1_500
"""An image of usual size; no dimensions are read from the file."""

DOCUMENT_TOKENS = 3_000
"""A binary document (PDF), whatever its length."""

_FRAME_TOKENS = 2
_TOOL_TOKENS = 8
_encode = msgspec.json.Encoder().encode


def text_tokens(text: str) -> int:
    """Tokens of a text; 0 only for the empty one."""
    # Half of a surrogate pair cannot be sent, but a session can hold it, and its context is measured all the same.
    return bytes_tokens(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))


def json_tokens(value: JSON) -> int:
    """Tokens of a JSON value in its compact form."""
    try:
        return bytes_tokens(len(_encode(value)))
    except UnicodeEncodeError:
        return text_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def bytes_tokens(size: int) -> int:
    """Tokens of so many bytes of text."""
    return (size + BYTES_A_TOKEN - 1) // BYTES_A_TOKEN


def part_tokens(part: Part) -> int:
    """Tokens of what one part says, without anything that a wire format puts around it."""
    match part:
        case Text() | Thought():
            return text_tokens(part.text)
        case InlineData(mime_type=kind, data=data) if kind.startswith("text/"):
            return bytes_tokens(len(data))
        case InlineData() | FileRef():
            return IMAGE_TOKENS if part.mime_type.startswith("image/") else DOCUMENT_TOKENS
        case ToolResult(result=result):
            tokens = text_tokens(result) if isinstance(result, str) else json_tokens(result)
            return tokens + sum(map(part_tokens, part.attachments))
        case FunctionCall(name=name, args=args):
            return text_tokens(name) + json_tokens(args)
        case _:
            return json_tokens(to_builtins(part))


def tool_tokens(tool: ToolSchema) -> int:
    """Tokens of a tool as the model is told of it."""
    named = text_tokens(tool.name) + text_tokens(tool.description)
    return named + json_tokens(tool.parameters) + _TOOL_TOKENS


def message_tokens(message: Message) -> int:
    """Tokens of a message in a prompt, at least 1. Measured once in its life."""
    tokens, thought = _measured(message)
    return tokens + thought


def thought_tokens(message: Message) -> int:
    """What of `message_tokens` is the model's thinking."""
    return _measured(message)[1]


def _measured(message: Message) -> tuple[int, int]:
    found = _known.get(message)
    if found is None:
        thought = sum(_sent_tokens(part) for part in message.parts if isinstance(part, Thought))
        tokens = sum(_sent_tokens(part) for part in message.parts if not isinstance(part, Thought))
        found = _known[message] = (tokens, thought) if tokens or thought else (1, 0)
    return found


_known: WeakKeyDictionary[Message, tuple[int, int]] = WeakKeyDictionary()


def _sent_tokens(part: Part) -> int:
    """A part with what every wire format puts around it: its kind, the id of its call, a signature."""
    match part:
        case ToolResult():
            return part_tokens(part) + text_tokens(part.call_id) + text_tokens(part.name) + 2 * _FRAME_TOKENS
        case FunctionCall(provider_data=data):
            sealed = json_tokens(data.data) if data is not None else 0
            return part_tokens(part) + text_tokens(part.id) + sealed + 2 * _FRAME_TOKENS
        case Text(provider_data=data) | Thought(provider_data=data) if data is not None:
            return part_tokens(part) + json_tokens(data.data) + _FRAME_TOKENS
        case _:
            return part_tokens(part) + _FRAME_TOKENS
