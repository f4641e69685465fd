"""Neutral parts in the words of the chat completions API, as plain data. Both paths build their requests from these.

Every function is pure. What the API has no form for is refused here, before anything is sent.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FunctionCall,
    InlineData,
    ToolResult,
    ToolSchema,
)
from turnproof.provider import SystemInstruction, system_text, tools_by_name

from .names import wire_name
from .service import Service

Wire: TypeAlias = dict[str, Any]

_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_PDF = "application/pdf"


def text_block(text: str) -> Wire:
    """A text among other blocks of a content."""
    return {"type": "text", "text": text}


def unfit(part: InlineData | FileRef) -> str | None:
    """Why the API has no form for a medium; None where it has one.

    OpenAI refuses files of other types by name, whatever is in them (openai/openai-dotnet#613).
    """
    if part.mime_type.startswith("image/"):
        return None
    if isinstance(part, FileRef):
        return None if part.uri.startswith("file-") else "by an address, and the API fetches only images itself"
    return None if part.mime_type in (_PDF, *_SOUNDS) else "and the API takes images, PDF, WAV and MP3"


def media(part: InlineData | FileRef) -> Wire:
    """An image, PDF or sound that is fit for it, as a block. Files of the provider's own store go by their id."""
    if part.mime_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": part.uri if isinstance(part, FileRef) else _data_url(part)}}
    if isinstance(part, FileRef):
        return {"type": "file", "file": {"file_id": part.uri}}
    if part.mime_type == _PDF:
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": _data_url(part)}}
    sound = {"data": b64encode(part.data).decode(), "format": _SOUNDS[part.mime_type]}
    return {"type": "input_audio", "input_audio": sound}


def _data_url(part: InlineData) -> str:
    return f"data:{part.mime_type};base64,{b64encode(part.data).decode()}"


def code(part: ExecutableCode | CodeExecutionResult) -> str:
    """Code that another provider ran for itself, told as text: this API has no form for it."""
    if isinstance(part, ExecutableCode):
        return f"```{part.language.lower()}\n{part.code}\n```"
    return f"```\n{part.output}\n```"


def call(part: FunctionCall, wire_id: str) -> Wire:
    """A tool call under its wire name."""
    arguments = msgspec.json.encode(part.args).decode()
    return {"id": wire_id, "type": "function", "function": {"name": wire_name(part.name), "arguments": arguments}}


def result(part: ToolResult, wire_id: str) -> Wire:
    """A tool's answer as a message of its own. The API has no mark for a failure: the text says so."""
    answer = part.result if isinstance(part.result, str) else msgspec.json.encode(part.result).decode()
    return _answered(wire_id, f"Error: {answer}" if part.is_error and answer.strip() else answer)


def unanswered(wire_id: str) -> Wire:
    """The result of a call that history holds no result for: the API insists on one."""
    return _answered(wire_id, "Error: no result, the call was not carried out.")


def _answered(wire_id: str, content: str) -> Wire:
    return {"role": "tool", "tool_call_id": wire_id, "content": content}


def attachments(part: ToolResult) -> Wire | None:
    """What a result shows besides its text, which is all that its own message takes; None for nothing.

    It goes into a user message behind the results.
    """
    if not part.attachments:
        return None
    label = text_block(f"Attached to the result of {part.name:.30}:")
    return {"role": "user", "content": [label, *map(media, part.attachments)]}


def tools(schemas: Sequence[ToolSchema]) -> list[Wire]:
    """Tool declarations, sorted: two equal sets in another order would miss the prefix cache."""
    return [_tool(schema) for schema in tools_by_name(schemas)]


def _tool(schema: ToolSchema) -> Wire:
    function: Wire = {"name": wire_name(schema.name)}
    if schema.description:
        function["description"] = schema.description
    # An object schema without `properties` is refused.
    function["parameters"] = {"type": "object", "properties": {}, **schema.parameters}
    return {"type": "function", "function": function}


def system(instruction: SystemInstruction, service: Service) -> Wire | None:
    """The system text as a message; None where there is none."""
    text = system_text(instruction)
    return {"role": service.instructions, "content": text} if text.strip() else None


def response_format(schema: Mapping[str, Any]) -> Wire:
    """The output format for a JSON schema: strict, unless the schema leaves an object open.

    A strict schema has each object closed and all of its properties required, which the API demands of it
    (developers.openai.com, Structured Outputs: supported schemas).
    """
    strict = not _leaves_open(schema)
    plain = _closed(schema) if strict else dict(schema)
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": plain, "strict": strict}}


_NAMED = ("properties", "$defs", "definitions")
_NESTED = ("items", "anyOf", "allOf")


def _inside(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that a schema is made of."""
    for key in _NAMED:
        named = schema.get(key)
        yield from named.values() if isinstance(named, Mapping) else ()
    for key in _NESTED:
        nested = schema.get(key)
        yield from nested if isinstance(nested, list | tuple) else (nested,)


def _leaves_open(schema: Any) -> bool:
    """Whether an object somewhere in it may have properties that it does not name."""
    if not isinstance(schema, Mapping):
        return False
    is_object = schema.get("type") == "object"
    if is_object and ("properties" not in schema or schema.get("additionalProperties", False) is not False):
        return True
    return "oneOf" in schema or any(map(_leaves_open, _inside(schema)))


def _closed(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return [_closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    copy = dict(schema)
    for key in _NAMED:
        if isinstance(named := schema.get(key), Mapping):
            copy[key] = {name: _closed(each) for name, each in named.items()}
    for key in _NESTED:
        if key in schema:
            copy[key] = _closed(schema[key])
    if schema.get("type") == "object":
        copy |= {"additionalProperties": False, "required": list(schema["properties"])}
    return copy
