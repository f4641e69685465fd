"""One neutral part as one block of the Messages API, as plain data. Both paths build their requests from these.

Every function is pure. What the API has no block for is refused here, before anything is sent.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from turnproof import messages
from turnproof.errors import InvalidRequestError
from turnproof.provider import SystemInstruction, tools_by_name

from .service import Service

Block: TypeAlias = dict[str, Any]


def text(part: messages.Text, service: Service) -> Block | None:
    """A text block; None for blank text, which the API refuses. Citations of our own answers go back with it."""
    return cited(part, service) if part.text.strip() else None


def cited(part: messages.Text, service: Service) -> Block:
    """The text block of a part that is not blank."""
    block = text_block(part.text)
    if part.provider_data is not None and part.provider_data.dialect == service.dialect:
        citations = part.provider_data.data.get("citations")
        if citations:
            block["citations"] = citations
    return _marked(block, part.cache, service)


def text_block(content: str) -> Block:
    """A text block of this very text."""
    return {"type": "text", "text": content}


def thought(part: messages.Thought, service: Service, model: str) -> Block | None:
    """The thinking as it was issued; None unless this model did, whole (others refuse a foreign signature)."""
    issued = part.provider_data
    if issued is None or issued.dialect != service.dialect or not service.models.same_model(issued.model, model):
        return None
    data = issued.data
    if "redacted" in data:
        return {"type": "redacted_thinking", "data": data["redacted"]}
    if data.get("signature"):
        return {"type": "thinking", "thinking": part.text, "signature": data["signature"]}
    return None if service.signs or not part.text else {"type": "thinking", "thinking": part.text}


def call(part: messages.FunctionCall, wire_id: str, service: Service) -> Block:
    """A tool call under its wire name."""
    block: Block = {"type": "tool_use", "id": wire_id, "name": service.tool_name(part.name), "input": part.args}
    if part.provider_data is not None and part.provider_data.dialect == service.dialect:
        caller = part.provider_data.data.get("caller")
        if caller:
            block["caller"] = caller
    return _marked(block, part.cache, service)


def result(part: messages.ToolResult, wire_id: str, service: Service) -> Block:
    """A tool's answer: a string, or a list of blocks where it has attachments; an empty answer has no content.

    The string goes out as it is. As a block beside attachments it may not be blank, like any text.
    """
    block: Block = {"type": "tool_result", "tool_use_id": wire_id}
    answer = part.result if isinstance(part.result, str) else msgspec.json.encode(part.result).decode()
    if part.attachments:
        content = [text_block(answer)] if answer.strip() and part.result is not None else []
        block["content"] = content + [media(item, service) for item in part.attachments]
    elif answer:
        block["content"] = answer
    if part.is_error:
        block["is_error"] = True
    return _marked(block, part.cache, service)


def unanswered(wire_id: str) -> Block:
    """The result of a call that history holds no result for: the API insists on one."""
    return {
        "type": "tool_result",
        "tool_use_id": wire_id,
        "content": "No result: the call was not carried out.",
        "is_error": True,
    }


def media(part: messages.InlineData | messages.FileRef, service: Service) -> Block:
    """An image or document block. Text files go as plain text, files of the provider's own store by their id."""
    if not service.reads(part):
        form = "named by its address" if isinstance(part, messages.FileRef) else "as a file"
        raise InvalidRequestError(f"{service.name} does not read a {part.mime_type!r} {form}")
    if part.mime_type.startswith("image/"):
        kind = "image"
    elif part.mime_type == "application/pdf" or part.mime_type.startswith("text/"):
        kind = "document"
    else:
        raise InvalidRequestError(f"the Messages API takes images, PDF and text, not {part.mime_type!r}")
    return _marked({"type": kind, "source": _source(part)}, part.cache, service)


def _source(part: messages.InlineData | messages.FileRef) -> Block:
    if isinstance(part, messages.FileRef):
        if part.uri.startswith("file_"):
            return {"type": "file", "file_id": part.uri}
        return {"type": "url", "url": part.uri}
    if part.mime_type.startswith("text/"):
        return {"type": "text", "media_type": "text/plain", "data": part.data.decode("utf-8", "replace")}
    return {"type": "base64", "media_type": part.mime_type, "data": b64encode(part.data).decode()}


def opaque(part: messages.Opaque, service: Service) -> Block | None:
    """A block of ours that no part names, verbatim; None for another dialect's."""
    return dict(part.data) if part.dialect == service.dialect else None


def code(part: messages.ExecutableCode | messages.CodeExecutionResult) -> Block:
    """Code that another provider ran for itself, told as text: this API has its own blocks for its own runs only."""
    if isinstance(part, messages.ExecutableCode):
        return text_block(f"```{part.language.lower()}\n{part.code}\n```")
    return text_block(f"```\n{part.output}\n```")


def tools(schemas: Sequence[messages.ToolSchema], service: Service) -> list[Block]:
    """Tool declarations, sorted: two equal sets in another order would miss the prefix cache."""
    return [_tool(schema, service) for schema in tools_by_name(schemas)]


def _tool(schema: messages.ToolSchema, service: Service) -> Block:
    block: Block = {"name": service.tool_name(schema.name)}
    if schema.description:
        block["description"] = schema.description
    block["input_schema"] = {"type": "object", **schema.parameters}
    return _marked(block, schema.cache, service)


def system(instruction: SystemInstruction, service: Service) -> list[Block]:
    """The system text as blocks; empty where there is none."""
    part = messages.Text(instruction) if isinstance(instruction, str) else instruction
    block = text(part, service) if part is not None else None
    return [block] if block is not None else []


def response_format(schema: Mapping[str, Any]) -> Block:
    """The output format for a JSON schema. Objects are closed, as the API demands of every object in it."""
    return {"type": "json_schema", "schema": _closed(schema)}


def _closed(schema: messages.JSON) -> messages.JSON:
    if isinstance(schema, Mapping):
        copy = {key: _closed(value) for key, value in schema.items()}
        if copy.get("type") == "object" and isinstance(copy.get("properties", {}), dict):
            copy.setdefault("additionalProperties", False)
        return copy
    if isinstance(schema, list | tuple):
        return [_closed(item) for item in schema]
    return schema


def _marked(block: Block, mark: messages.CacheMark | None, service: Service) -> Block:
    if mark is not None and service.breakpoints:
        block["cache_control"] = {"type": "ephemeral"} if mark.ttl == "5m" else {"type": "ephemeral", "ttl": mark.ttl}
    return block
