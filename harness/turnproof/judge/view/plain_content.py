"""Conversations by their content alone, to be held against each other by value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from ...messages import JSON, FileRef, FunctionCall, InlineData, Message, Part, Text, Thought, ToolResult


def plain(messages: Iterable[Message], *, thoughts: bool = False) -> JSON:
    """A conversation by its content: roles, texts, calls, results and media, without marks, ids and signatures.

    Neighbouring texts of the model are one: in how many pieces a stream brought them says nothing.
    """
    found = []
    for message in messages:
        joined_parts = joined(message.parts) if message.role == "model" else message.parts
        parts = [form for part in joined_parts if (form := _plain_part(part, thoughts)) is not None]
        if parts:
            found.append({"role": message.role, "parts": parts})
    return found


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts with neighbouring texts, and neighbouring thoughts, made one; those with a signature stay alone."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        match last, part:
            case Text(provider_data=None), Text(provider_data=None):
                found[-1] = replace(last, text=last.text + part.text)
            case Thought(provider_data=None), Thought(provider_data=None):
                found[-1] = replace(last, text=last.text + part.text)
            case _:
                found.append(part)
    return tuple(found)


def _plain_part(part: Part, thoughts: bool) -> JSON:
    match part:
        case Text(text=text):
            return {"text": text} if text.strip() else None
        case FunctionCall(id=name, name=tool, args=args):
            return {"call": name, "name": tool, "args": args}
        case ToolResult(call_id=name, result=result, is_error=error, attachments=attachments):
            return {"result": name, "value": result, "error": error, "attached": [_digest(one) for one in attachments]}
        case InlineData() | FileRef():
            return {"media": _digest(part)}
        case Thought(text=text):
            return {"thought": text} if thoughts else None
        case _:
            return {"other": type(part).__name__}


def _digest(part: InlineData | FileRef) -> str:
    if isinstance(part, FileRef):
        return part.uri
    return f"{part.mime_type} {hashlib.blake2b(part.data, digest_size=8).hexdigest()}"
