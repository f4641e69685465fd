"""A request in the plain form of the Messages API, as a simple and correct adapter would write it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from turnproof import messages

MODEL = "claude-sonnet-4-5"


def wire_body(
    history: Sequence[messages.Message],
    system: str | None,
    tools: Sequence[messages.ToolSchema],
    stream: bool,
    schema: Any,
    options: dict[str, Any],
) -> dict[str, Any]:
    """A request as a plain adapter would write it."""
    body: dict[str, Any] = {"model": MODEL, "max_tokens": 4096, "messages": [_wire_message(one) for one in history]}
    if stream:
        body["stream"] = True
    if system is not None:
        body["system"] = system
    if tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
        ]
        for sent, tool in zip(body["tools"], tools, strict=True):
            _mark(sent, tool)
    if schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if options.get("thinking"):
        body["thinking"] = {"type": "enabled", **options["thinking"]}
    return body


def rename(body: dict[str, Any], names: dict[str, str]) -> None:
    blocks = [block for message in body["messages"] for block in message["content"]]
    for thing in (*body.get("tools", ()), *(block for block in blocks if block["type"] == "tool_use")):
        thing["name"] = names.get(thing["name"], thing["name"])


def _wire_message(message: messages.Message) -> dict[str, Any]:
    role = "assistant" if message.role == "model" else "user"
    return {"role": role, "content": [_wire_part(part) for part in message.parts]}


def _wire_part(part: messages.Part) -> dict[str, Any]:
    return _mark(_wire_block(part), part)


def _mark(block: dict[str, Any], part: messages.Part | messages.ToolSchema) -> dict[str, Any]:
    if part.cache is not None:
        block["cache_control"] = {"type": "ephemeral", "ttl": part.cache.ttl}
    return block


def _wire_block(part: messages.Part) -> dict[str, Any]:
    match part:
        case messages.Text(text=text, provider_data=data) if data is not None:
            return {"type": "text", "text": text, **data.data}
        case messages.Text(text=text):
            return {"type": "text", "text": text}
        case messages.Opaque(data=data):
            return dict(data)
        case messages.FunctionCall(id=name, name=tool, args=args):
            return {"type": "tool_use", "id": name, "name": tool, "input": args}
        case messages.ToolResult():
            content = [{"type": "text", "text": str(part.result)}, *map(_wire_part, part.attachments)]
            return {"type": "tool_result", "tool_use_id": part.call_id, "content": content, "is_error": part.is_error}
        case messages.InlineData(mime_type=mime, data=data):
            kind = "image" if mime.startswith("image/") else "document"
            source = {"type": "base64", "media_type": mime, "data": base64.b64encode(data).decode()}
            return {"type": kind, "source": source}
        case messages.FileRef(uri=uri):
            return {"type": "image", "source": {"type": "url", "url": uri}}
        case messages.Thought(provider_data=data) if data is not None and "redacted" in data.data:
            return {"type": "redacted_thinking", "data": data.data["redacted"]}
        case messages.Thought(text=text, provider_data=data) if data is not None:
            return {"type": "thinking", "thinking": text, "signature": data.data["signature"]}
    raise AssertionError(f"no plain form for {part!r}")
