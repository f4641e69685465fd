"""One neutral part as one item or content block of the Responses API, as plain data, for both paths.

Every function is pure. What the API has no form for is refused here, before anything is sent. Items go out without ids:
the service keeps nothing (`store: false`), and what pairs a call with its output is the `call_id`. Shapes are those of
the parameter types of `openai` 3.54.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from mimetypes import guess_extension
from typing import Any, TypeAlias

import msgspec

from turnproof import messages
from turnproof.errors import InvalidRequestError
from turnproof.provider import SystemInstruction, system_text, tools_by_name

from ..openai import convert as chat_convert
from .models import DIALECT, same_model
from .names import wire_name

Item: TypeAlias = dict[str, Any]


def text(content: str) -> Item:
    """A content block of a text that the model reads."""
    return {"type": "input_text", "text": content}


def answer_message(part: messages.Text) -> Item:
    """A message of the model's own. A refusal goes back as one; `phase` and annotations go back with it."""
    issued = part.provider_data
    own: Mapping[str, Any] = issued.data if issued is not None and issued.dialect == DIALECT else {}
    if own.get("refusal"):
        block: Item = {"type": "refusal", "refusal": part.text}
    else:
        block = {"type": "output_text", "text": part.text, "annotations": own.get("annotations") or []}
    message: Item = {"type": "message", "role": "assistant", "content": [block]}
    if own.get("phase"):
        message["phase"] = own["phase"]
    return message


def input_message(role: str, blocks: Sequence[Item]) -> Item:
    """A message to the model of finished blocks."""
    return {"type": "message", "role": role, "content": list(blocks)}


def thought(part: messages.Thought, model: str) -> Item | None:
    """The reasoning as it was issued; None unless it was this model's, encrypted: no other model can read it."""
    issued = part.provider_data
    if issued is None or not _is_ours(issued, model) or not issued.data.get("encrypted"):
        return None
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    return {"type": "reasoning", "summary": summary, "encrypted_content": issued.data["encrypted"]}


def call(part: messages.FunctionCall, wire_id: str) -> Item:
    """A call under its wire name. Its arguments are a string of JSON."""
    arguments = msgspec.json.encode(part.args).decode()
    return {"type": "function_call", "call_id": wire_id, "name": wire_name(part.name), "arguments": arguments}


def result(part: messages.ToolResult, wire_id: str) -> Item:
    """A tool's answer: a string, or a list of blocks where it has attachments.

    The API has no mark for a tool that failed (`openai` 3.54, `FunctionCallOutput`): the output says so in words.
    """
    answer = part.result if isinstance(part.result, str) else msgspec.json.encode(part.result).decode()
    if part.is_error and answer.strip():
        answer = f"Error: {answer}"
    output: messages.JSON = answer
    if part.attachments:
        words = [text(answer)] if part.result is not None and answer.strip() else []
        output = words + [media(item) for item in part.attachments]
    return {"type": "function_call_output", "call_id": wire_id, "output": output}


def unanswered(wire_id: str) -> Item:
    """The output of a call that history holds none for: the API insists on one."""
    output = "Error: no result, the call was not carried out."
    return {"type": "function_call_output", "call_id": wire_id, "output": output}


def media(part: messages.InlineData | messages.FileRef) -> Item:
    """An image or a file: its bytes, an address, or the id of a file in the service's own store (`file-...`)."""
    if part.mime_type.startswith("image/"):
        return {"type": "input_image", "detail": "auto", **_source(part, "image_url", "image_url")}
    if part.mime_type != "application/pdf" and not part.mime_type.startswith("text/"):
        raise InvalidRequestError(f"the Responses API takes images, PDF and text, not {part.mime_type!r:.80}")
    block: Item = {"type": "input_file", **_source(part, "file_data", "file_url")}
    if isinstance(part, messages.InlineData):
        block["filename"] = f"file{guess_extension(part.mime_type) or '.txt'}"
    return block


def _source(part: messages.InlineData | messages.FileRef, data: str, address: str) -> Item:
    """Where the content is, under the names that its block has for bytes and addresses."""
    if isinstance(part, messages.InlineData):
        return {data: f"data:{part.mime_type};base64,{b64encode(part.data).decode()}"}
    return {"file_id" if part.uri.startswith("file-") else address: part.uri}


def opaque(part: messages.Opaque) -> Item | None:
    """An item of ours that no part names, verbatim but for its id, under which nothing is stored; None for another
    dialect's."""
    if part.dialect != DIALECT:
        return None
    return {name: value for name, value in part.data.items() if name != "id"}


def tools(schemas: Iterable[messages.ToolSchema]) -> list[Item]:
    """Tool declarations, in the order in which they are sent."""
    return [_tool(schema) for schema in tools_by_name(schemas)]


def _tool(schema: messages.ToolSchema) -> Item:
    tool: Item = {"type": "function", "name": wire_name(schema.name)}
    if schema.description:
        tool["description"] = schema.description
    # Left out, `strict` is true: the service would then refuse every schema with an optional property.
    return tool | {"parameters": {"type": "object", "properties": {}, **schema.parameters}, "strict": False}


def system(instruction: SystemInstruction) -> str | None:
    """The instructions; None where there are none."""
    words = system_text(instruction)
    return words if words.strip() else None


def response_format(schema: Mapping[str, Any]) -> Item:
    """The output format for a JSON schema: what chat completions nest stands side by side here."""
    chat = chat_convert.response_format(schema)
    return {"type": chat["type"], **chat["json_schema"]}


def _is_ours(issued: messages.ProviderData, model: str) -> bool:
    return issued.dialect == DIALECT and same_model(issued.model, model)
