"""One neutral part as one step or content of the Interactions API, as plain data, for both paths.

Every function is pure. What the API has no form for is refused here, before anything is sent. Shapes are those of the
parameter types of google-genai 3.6.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from turnproof import messages
from turnproof.errors import InvalidRequestError
from turnproof.provider import SystemInstruction, system_text, tools_by_name

from ..google_genai.names import wire_name
from .models import DIALECT

Step: TypeAlias = dict[str, Any]

_KINDS = ("image", "audio", "video")
_DOCUMENTS = ("application/", "text/")


def text(content: str) -> Step:
    """A content of text."""
    return {"type": "text", "text": content}


def input_step(contents: Sequence[Step]) -> Step:
    """What the user says, of finished contents."""
    return {"type": "user_input", "content": list(contents)}


def output_step(content: Step) -> Step:
    """What the model said."""
    return {"type": "model_output", "content": [content]}


def answer_text(part: messages.Text) -> Step:
    """A text of the model's own, with the annotations that it came with."""
    issued = part.provider_data
    own: Mapping[str, Any] = issued.data if issued is not None and issued.dialect == DIALECT else {}
    return text(part.text) | ({"annotations": own["annotations"]} if own.get("annotations") else {})


def thought(part: messages.Thought, model: str) -> Step | None:
    """The thought as it was issued; None unless it was this model's, signed.

    The service refuses one without its signature in front of a call (googleapis/js-genai#1735).
    """
    issued = part.provider_data
    if issued is None or issued.dialect != DIALECT or not _is_same(issued.model, model):
        return None
    if not (signature := issued.data.get("signature")):
        return None
    summary = {"summary": [text(part.text)]} if part.text else {}
    return {"type": "thought", "signature": signature, **summary}


def call(part: messages.FunctionCall, wire_id: str) -> Step:
    """A call under its wire name."""
    return {"type": "function_call", "id": wire_id, "name": wire_name(part.name), "arguments": part.args}


def result(part: messages.ToolResult, wire_id: str) -> Step:
    """A tool's answer: a text, or a list of contents where it has attachments."""
    answer = part.result if isinstance(part.result, str) else msgspec.json.encode(part.result).decode()
    content: messages.JSON = answer if part.result is not None else ""
    if part.attachments:
        words = [text(answer)] if part.result is not None and answer.strip() else []
        content = words + [media(item) for item in part.attachments]
    step = {"type": "function_result", "call_id": wire_id, "name": wire_name(part.name), "result": content}
    return step | ({"is_error": True} if part.is_error else {})


def unanswered(wire_id: str, name: str) -> Step:
    """The result of a call that history holds none for."""
    sentence = "No result: the call was not carried out."
    step = {"type": "function_result", "call_id": wire_id, "name": wire_name(name), "result": sentence}
    return step | {"is_error": True}


def media(part: messages.InlineData | messages.FileRef) -> Step:
    """An image, audio, a video or a document: its bytes, or where they are."""
    kind = next((kind for kind in _KINDS if part.mime_type.startswith(f"{kind}/")), None)
    if kind is None:
        if not part.mime_type.startswith(_DOCUMENTS):
            raise InvalidRequestError(f"the Interactions API takes media and documents, not {part.mime_type!r:.80}")
        kind = "document"
    if isinstance(part, messages.InlineData):
        return {"type": kind, "data": b64encode(part.data).decode(), "mime_type": part.mime_type}
    return {"type": kind, "uri": part.uri, "mime_type": part.mime_type}


def opaque(part: messages.Opaque) -> Step | None:
    """A step of ours that no part names, verbatim; None for another dialect's."""
    return dict(part.data) if part.dialect == DIALECT else None


def tools(schemas: Iterable[messages.ToolSchema]) -> list[Step]:
    """Tool declarations, in the order in which they are sent."""
    return [_tool(schema) for schema in tools_by_name(schemas)]


def _tool(schema: messages.ToolSchema) -> Step:
    tool: Step = {"type": "function", "name": wire_name(schema.name)}
    if schema.description:
        tool["description"] = schema.description
    if schema.parameters:
        tool["parameters"] = {"type": "object", **schema.parameters}
    return tool


def system(instruction: SystemInstruction) -> str | None:
    """The system text; None where there is none."""
    words = system_text(instruction)
    return words if words.strip() else None


def response_format(schema: Mapping[str, Any]) -> Step:
    """The format of an answer that is JSON of this schema."""
    return {"type": "text", "mime_type": "application/json", "schema": schema}


def _is_same(issuer: str, model: str) -> bool:
    """Whether two names are one model's; a list of models gives them a folder."""
    return issuer.rpartition("/")[2] == model.rpartition("/")[2]
