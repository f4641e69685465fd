"""What was said in a session, in neutral messages: from the program's lines, and from those that it has stored.

An answer comes in several pieces of one id, one for each block, and the results of its first calls may come between
them. They are put together again here.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from turnproof.errors import PayloadError
from turnproof.messages import FileRef, FunctionCall, InlineData, Message, Opaque, Part, Text, ToolResult

from ..anthropic import parts as neutral
from ..anthropic.parts import Restore
from ..anthropic.service import Service
from ..claude_cli.lines import ProgramMessage

SYNTHETIC = "<synthetic>"
"""The model that answers in the program's own name."""

_INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})
_FILED = "[Image: source: "
"""Begins a text that the program puts behind an image of a tool's, to say where it has filed it."""


def is_of_the_program(message: ProgramMessage) -> bool:
    """Whether the program says it in its own name, and neither the model nor whoever asks it."""
    if message.model == SYNTHETIC:
        return True
    return isinstance(message.content, list) and {block.get("text") for block in message.content} <= _INTERRUPTED


@dataclass
class _Answer:
    """One answer of the model, and what became of its calls."""

    parts: list[Part] = field(default_factory=list)
    results: dict[str, ToolResult] = field(default_factory=dict)

    def messages(self) -> Iterator[Message]:
        # A call that was never answered was not made: the program says so to the model, in its own words.
        whole_parts = [part for part in self.parts if not isinstance(part, FunctionCall) or part.id in self.results]
        if whole_parts:
            yield Message("model", tuple(whole_parts))
        if self.results:
            yield Message.tool(*(self.results[part.id] for part in whole_parts if isinstance(part, FunctionCall)))


def messages(program_messages: Iterable[ProgramMessage], service: Service, restore: Restore) -> list[Message]:
    """The messages. Blocks that are damaged are left out, and so is what the program said in its own name."""
    entries: list[_Answer | Message] = []
    answers: dict[str, _Answer] = {}
    calls: dict[str, tuple[_Answer, str]] = {}
    for each in program_messages:
        if is_of_the_program(each):
            continue
        if each.role == "assistant":
            answer = answers.get(each.id)
            if answer is None or not each.id:
                answer = answers[each.id] = _Answer()
                entries.append(answer)
            for part in _answered(each, service, restore):
                answer.parts.append(part)
                if isinstance(part, FunctionCall):
                    calls[part.id] = answer, part.name
            continue
        words: list[Part] = []
        for block in _blocks(each):
            owner = calls.get(block.get("tool_use_id", ""))
            if block.get("type") != "tool_result":
                words.extend(_result_parts(block, service))
            elif owner is not None:
                owner[0].results[block["tool_use_id"]] = _result(block, owner[1], service)
        if words:
            answers.clear()
            entries.append(Message("user", tuple(words)))
    return [message for each in entries for message in ([each] if isinstance(each, Message) else each.messages())]


def _blocks(message: ProgramMessage) -> list[dict[str, Any]]:
    return [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content


def _answered(message: ProgramMessage, service: Service, restore: Restore) -> Iterator[Part]:
    for block in _blocks(message):
        try:
            part = neutral.part(block, service, message.model, restore)
        except ValueError:
            continue
        if part is not None:
            yield part


def _result_parts(block: dict[str, Any], service: Service) -> Iterator[Part]:
    """A block of the user's, or of a tool's result."""
    match block:
        case {"type": "text", "text": str(text)}:
            if text:
                yield Text(text)
        case {"type": "image" | "document", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            try:
                yield InlineData(kind, b64decode(data, validate=True))
            except binascii.Error:
                return
        case {"type": "document", "source": {"type": "text", "media_type": str(kind), "data": str(data)}}:
            yield InlineData(kind, data.encode())
        case {"type": "image" | "document" as kind, "source": {"type": "url", "url": str(url)}}:
            yield FileRef("image/*" if kind == "image" else "application/pdf", url)
        case {"type": str(kind)}:
            try:
                yield Opaque(service.dialect, kind, block)
            except PayloadError:
                return


def _result(block: dict[str, Any], name: str, service: Service) -> ToolResult:
    content = block.get("content", "")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    result_parts = [part for each in blocks if isinstance(each, dict) for part in _result_parts(each, service)]
    text = "".join(part.text for part in result_parts if isinstance(part, Text) and not part.text.startswith(_FILED))
    attached = tuple(part for part in result_parts if isinstance(part, InlineData | FileRef))
    return ToolResult(block["tool_use_id"], name, text, is_error=block.get("is_error") is True, attachments=attached)
