"""A prompt as the row of cells that is counted and cached: system text, tools, then the conversation.

Cells are made from the neutral form, so that either spelling, either form of `countTokens`, and a managed cache give
the same count as the request written out. Ids and empty texts weigh nothing, signatures as much as they are long. A
model's text in several parts counts as the one text that they make: where a stream was cut does not change a prompt.
prompt.

The service caches prefixes by itself since 2.5 and promises nothing about it. Here it does so whenever a prefix of at
least the documented minimum was part of an earlier prompt to the same model within five minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from ...messages import FileRef, FunctionCall, InlineData, Part, Text, Thought, ToolResult, ToolSchema
from ...tokens import DOCUMENT_TOKENS, IMAGE_TOKENS, bytes_tokens, json_tokens, text_tokens
from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import AutomaticCache, Cell, nothing_to_write, prompt_cells
from .models import IMPLICIT_CACHE
from .parts import signature_of

_PART_TOKENS = 1
_CALL_TOKENS = 8
_TOOL_TOKENS = 8
_PAGE_TOKENS = 258
"""Of each page of a PDF (https://ai.google.dev/gemini-api/docs/document-processing). One whose pages cannot be seen
counts as one page: a prompt that is counted too high would be found in the cache where the service does not."""
_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![a-z])")
_encode = msgspec.json.Encoder().encode


def count(call: Call) -> int:
    """Tokens of the whole prompt, with what a managed cache holds."""
    return sum(cell.tokens for cell in cells(call))


def managed_tokens(call: Call) -> int:
    """Tokens of the prompt that the named cache holds; 0 for a call that names none, or one that is gone."""
    if call.operation == "cache" or call.resource is None:
        return 0
    cell_count = len(call.system) + len(call.tools)
    cell_count += sum(len(message.parts) for message in call.messages[: call.managed_messages])
    return sum(cell.tokens for cell in cells(call)[:cell_count])


@prompt_cells
def cells(call: Call) -> Iterator[Cell]:
    """One for each system text, tool and part."""
    for part in call.system:
        yield _cell(part, b"system")
    for tool in call.tools:
        yield _tool(tool)
    for message in call.messages:
        role = b"model" if message.role == "model" else b"user"
        before = 0
        for part in message.parts:
            cell = _cell(part, role)
            if role == b"model" and isinstance(part, Text) and not signature_of(part):
                size = before + len(part.text.encode())
                if before:
                    cell = replace(cell, tokens=bytes_tokens(size) - bytes_tokens(before))
                before = size
            else:
                before = 0
            yield cell


def _tool(tool: ToolSchema) -> Cell:
    content = _encode([tool.name, tool.description, tool.parameters])
    return Cell(b"tool\0" + content, (len(content) + 3) // 4 + _TOOL_TOKENS, mark="5m")


def _cell(part: Part, role: bytes) -> Cell:
    signature = signature_of(part) or ""
    content, tokens = _weighed(part)
    if tokens or signature:
        # Base64 writes three bytes as four characters.
        tokens += _PART_TOKENS + len(signature) * 3 // 16
    return Cell(b"%b\0%b\0%b" % (role, signature.encode(), content), tokens, mark="5m")


def _weighed(part: Part) -> tuple[bytes, int]:
    match part:
        case Text(text=text):
            return b"text\0" + text.encode(), text_tokens(text)
        case Thought(text=text):
            return b"thought\0" + text.encode(), text_tokens(text)
        case FunctionCall(name=name, args=args):
            return _encode(["call", name, args]), text_tokens(name) + json_tokens(args) + _CALL_TOKENS
        case ToolResult(name=name, result=result, attachments=attachments):
            inside = [_weighed(each) for each in attachments]
            content = _encode(["result", name, result]) + b"".join(each for each, _ in inside)
            tokens = text_tokens(name) + json_tokens(result) + _CALL_TOKENS
            return content, tokens + sum(weight for _, weight in inside)
        case InlineData(mime_type=mime, data=data) if mime.startswith("text/"):
            return b"inline\0" + data, (len(data) + 3) // 4
        case InlineData(mime_type=mime, data=data):
            return b"inline\0" + data, _media_tokens(mime, data)
        case FileRef(mime_type=mime, uri=uri):
            return b"file\0" + uri.encode(), _media_tokens(mime)
        case _:
            content = _encode(part)
            return content, (len(content) + 3) // 4


def _media_tokens(mime: str, data: bytes = b"") -> int:
    if mime == "application/pdf":
        return max(1, len(_PDF_PAGE.findall(data))) * _PAGE_TOKENS
    return IMAGE_TOKENS if mime.startswith("image/") else DOCUMENT_TOKENS


class GeminiCache(AutomaticCache):
    """One run's cache: what the service finds by itself, and the managed caches that a prompt names."""

    def __init__(self) -> None:
        super().__init__(cells, IMPLICIT_CACHE)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        if cached_tokens := managed_tokens(call):
            return PromptUsage(count(call) - cached_tokens, cache_read=cached_tokens), nothing_to_write
        return super().account(call, facts, now)
