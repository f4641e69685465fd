"""What was said, in the JSON that the conventions for generative AI give to spans.

Each message is put into that form once. Bytes of files are left out: a span says of what type and how long they are.
Signatures and other data that only a provider understands are no content.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from ..messages import (
    JSON,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    ProviderResponse,
    Text,
    Thought,
    ToolResult,
)
from ..provider import SystemInstruction

_ROLES = {"model": "assistant"}
_encode = msgspec.json.Encoder().encode
_known: WeakKeyDictionary[Message, msgspec.Raw] = WeakKeyDictionary()


def captured_messages(messages: Sequence[Message]) -> str:
    """A conversation: `gen_ai.input.messages`."""
    return captured_json([_message(message) for message in messages])


def captured_system(system: SystemInstruction) -> str | None:
    """A system text: `gen_ai.system_instructions`. None where there is none."""
    if system is None:
        return None
    return captured_json([_part(system if isinstance(system, Text) else Text(system))])


def captured_response(response: ProviderResponse) -> str:
    """One answer: `gen_ai.output.messages`."""
    parts = [_part(part) for part in response.parts]
    return captured_json([{"role": "assistant", "parts": parts, "finish_reason": response.finish_reason.value}])


def captured_json(value: JSON) -> str:
    """A JSON value as an attribute can hold it."""
    return _encode(value).decode()


def _message(message: Message) -> msgspec.Raw:
    if (known := _known.get(message)) is not None:
        return known
    form = {"role": _ROLES.get(message.role, message.role), "parts": [_part(part) for part in message.parts]}
    _known[message] = raw = msgspec.Raw(_encode(form))
    return raw


@singledispatch
def _part(part: Any) -> dict[str, Any]:
    """Parts that the conventions have no name for keep their own."""
    form: dict[str, Any] = msgspec.to_builtins(part)
    fields = {name: value for name, value in form.items() if name not in ("part", "provider_data", "cache")}
    return {"type": form["part"], **fields}


@_part.register
def _(part: Text) -> dict[str, Any]:
    return {"type": "text", "content": part.text}


@_part.register
def _(part: Thought) -> dict[str, Any]:
    return {"type": "reasoning", "content": part.text}


@_part.register
def _(part: FunctionCall) -> dict[str, Any]:
    return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.args}


@_part.register
def _(part: ToolResult) -> dict[str, Any]:
    form = {"type": "tool_call_response", "id": part.call_id, "response": part.result}
    return {**form, "attachments": [_part(one) for one in part.attachments]} if part.attachments else form


@_part.register
def _(part: InlineData) -> dict[str, Any]:
    return {"type": "inline", "mime_type": part.mime_type, "size": len(part.data)}


@_part.register
def _(part: FileRef) -> dict[str, Any]:
    modality = part.mime_type.partition("/")[0]
    return {"type": "uri", "modality": modality, "mime_type": part.mime_type, "uri": part.uri}


@_part.register
def _(part: Opaque) -> dict[str, Any]:
    return {"type": part.kind}
