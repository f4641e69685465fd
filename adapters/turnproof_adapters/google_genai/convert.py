"""One neutral part as one part of the Gemini API, as plain data in the API's own spelling. Both paths build on these.

Every function is pure. A signature goes back in the part it was issued with, to the model that issued it, and nowhere
else (https://ai.google.dev/gemini-api/docs/thought-signatures).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from turnproof import messages
from turnproof.provider import SystemInstruction, system_text, tools_by_name

from .names import anthropic_id, is_made_up, wire_name
from .target import Target, same_model

WirePart: TypeAlias = dict[str, Any]

NO_SIGNATURE_NEEDED = b64encode(b"skip_thought_signature_validator").decode()
"""What the API takes in place of a signature for a call that it did not issue itself."""

_IN_RESULTS = ("image/", "application/pdf")
"""Media that a function's response can hold itself. Text in it is refused; anything else goes beside it."""


def text(part: messages.Text, to: Target) -> WirePart | None:
    """A text part; None for an empty one, unless it carries a signature."""
    sent = _signed({"text": part.text}, part, to)
    return sent if part.text or len(sent) > 1 else None


def thought(part: messages.Thought, to: Target) -> WirePart | None:
    """A part of the model's thinking; None for what another dialect's model thought, or nobody says who, and for an
    empty one without a signature.

    Where Anthropic's rules hold, no thought goes without the signature that the model gave it.
    """
    issued = to.issued(part)
    if issued is None:
        return None
    sent = _signed({"text": part.text, "thought": True}, part, to)
    if len(sent) > 2:
        return sent
    is_anothers = to.mixes_families and not same_model(issued.model, to.model)
    return None if to.anthropic or is_anothers or not part.text else sent


def call(part: messages.FunctionCall, to: Target, *, first: bool) -> WirePart:
    """A function call under its wire name. The `first` of a step gets a stand-in for a signature if it needs one."""
    function = {**identity(part.id, to), "name": wire_name(part.name), "args": part.args}
    sent = _signed({"functionCall": function}, part, to)
    if first and len(sent) == 1 and to.demands_signatures:
        sent["thoughtSignature"] = NO_SIGNATURE_NEEDED
    return sent


def result(part: messages.ToolResult, to: Target, *, name: str | None = None) -> tuple[WirePart, list[WirePart]]:
    """A function's response, and what of its attachments has to stand beside it.

    `name` is the wire name of the call that it answers, where that is known: the API wants the two to agree.
    """
    function: dict[str, Any] = identity(part.call_id, to)
    function["name"] = name or wire_name(part.name)
    # Always under one of the two documented keys: a tool's own object may have members of these names.
    function["response"] = {"error" if part.is_error else "output": part.result}
    inside = [item for item in part.attachments if to.takes_media_in_results and _fits_in_result(item)]
    if inside:
        function["parts"] = [media(item) for item in inside]
    return {"functionResponse": function}, [media(item) for item in part.attachments if item not in inside]


def unanswered(call_id: str, name: str, to: Target) -> WirePart:
    """The response to a call that history holds no result for: the API counts them."""
    response = {"error": "No result: the call was not carried out."}
    return {"functionResponse": {**identity(call_id, to), "name": name, "response": response}}


def media(part: messages.InlineData | messages.FileRef) -> WirePart:
    """An image, a document or another file: its bytes, or where they are."""
    if isinstance(part, messages.InlineData):
        return {"inlineData": {"mimeType": part.mime_type, "data": b64encode(part.data).decode()}}
    return {"fileData": {"mimeType": part.mime_type, "fileUri": part.uri}}


def answered_media(part: messages.InlineData | messages.FileRef, to: Target) -> WirePart:
    """A file that the model itself made, with its signature."""
    return _signed(media(part), part, to)


def code(part: messages.ExecutableCode | messages.CodeExecutionResult, to: Target) -> WirePart:
    """Code that the API ran; what another provider ran for itself is told as text."""
    issued = to.issued(part)
    if issued is None:
        if isinstance(part, messages.ExecutableCode):
            return {"text": f"```{part.language.lower()}\n{part.code}\n```"}
        return {"text": f"```\n{part.output}\n```"}
    own_id = {"id": issued.data["id"]} if "id" in issued.data else {}
    if isinstance(part, messages.ExecutableCode):
        return _signed({"executableCode": {"language": part.language, "code": part.code, **own_id}}, part, to)
    return _signed({"codeExecutionResult": {"outcome": part.outcome, "output": part.output, **own_id}}, part, to)


def opaque(part: messages.Opaque, to: Target) -> WirePart | None:
    """A part of ours that no neutral part names, verbatim; None for another dialect's."""
    return _signed(dict(part.data), part, to) if part.dialect == to.dialect else None


def tools(schemas: Sequence[messages.ToolSchema]) -> list[dict[str, Any]]:
    """Tool declarations, sorted: two equal sets in another order would miss the prefix cache."""
    return [{"functionDeclarations": [_tool(schema) for schema in tools_by_name(schemas)]}]


def _tool(schema: messages.ToolSchema) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": wire_name(schema.name)}
    if schema.description:
        declaration["description"] = schema.description
    if schema.parameters:
        declaration["parametersJsonSchema"] = {"type": "object", **schema.parameters}
    return declaration


def system(instruction: SystemInstruction) -> dict[str, Any] | None:
    """The system text as content; None where there is none."""
    words = system_text(instruction)
    return {"parts": [{"text": words}]} if words.strip() else None


def cache_name(instruction: SystemInstruction, schemas: Sequence[messages.ToolSchema] | None) -> str | None:
    """The managed cache that holds system text and tools already, if one of them is marked with its name."""
    marks = [schema.cache for schema in schemas or ()]
    if isinstance(instruction, messages.Text):
        marks.append(instruction.cache)
    return next((mark.name for mark in marks if mark is not None and mark.name is not None), None)


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `generationConfig` that ask for JSON of this schema."""
    return {"responseMimeType": "application/json", "responseJsonSchema": schema}


def _fits_in_result(item: messages.InlineData | messages.FileRef) -> bool:
    return item.mime_type.startswith(_IN_RESULTS)


def identity(call_id: str, to: Target) -> dict[str, Any]:
    """The id of a call, in it and in its response. One that was made up here is nothing to Gemini."""
    if to.own_ids:
        return {"id": call_id}
    if to.anthropic:
        return {"id": anthropic_id(call_id)}
    return {} if is_made_up(call_id) else {"id": call_id}


def _signed(sent: WirePart, part: messages.Part, to: Target) -> WirePart:
    signature = to.signature(part)
    if signature is not None:
        sent["thoughtSignature"] = signature
    return sent
