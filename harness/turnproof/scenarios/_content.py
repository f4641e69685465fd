"""What is inside a turn, but for the answers: texts and their pieces, the user's parts, tools, their results."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from .._base.suggestions import did_you_mean
from ..messages import FileRef, InlineData, Part, Text, ToolSchema
from ._located_value import LocatedValue
from ._samples import DOCUMENTS, IMAGES
from .model import ToolCase, ToolScript

TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")


# -- texts --------------------------------------------------------------------------------------------------


def read_pieces(spot: LocatedValue) -> tuple[str, tuple[str, ...]]:
    """A text and the pieces it is streamed in: a list gives them, plain text leaves the cutting to the dialect."""
    if not isinstance(spot.value, list):
        return spot.text(), ()
    pieces: list[str] = []
    for item in spot.items():
        if isinstance(item.value, dict) and "each" in item.value:
            item.mapping(("each", "times"), ("each", "times"), "repeated pieces")
            pieces += [item.at("each").nonempty_text("the piece to repeat")] * item.at("times").integer(1, 10_000)
        else:
            pieces.append(item.text("a piece of text"))
    if not pieces:
        spot.refuse("a list of pieces needs at least one")
    return "".join(pieces), tuple(pieces)


# -- the user's side ----------------------------------------------------------------------------------------


def read_user(spot: LocatedValue) -> tuple[Part, ...]:
    """What the user says: one text, or a list of texts, images and documents."""
    parts = tuple(_user_part(item) for item in spot.one_or_many())
    if not parts:
        spot.refuse("the user says nothing; leave 'user' out for a turn of 'before' actions alone")
    return parts


def _user_part(spot: LocatedValue) -> Part:
    if spot.is_text:
        return Text(spot.text())
    head = head_of(spot, ("text", "image", "document", "file"), "a part of the user's message")
    if head == "text":
        return Text(spot.mapping(("text",)).at("text").text())
    return read_attachment(spot)


def read_attachment(spot: LocatedValue) -> InlineData | FileRef:
    """`{image: png}`, `{document: pdf}`, or `{file: URI, mime: TYPE}`."""
    match head_of(spot, ("image", "document", "file"), "an attachment"):
        case "image":
            return IMAGES[spot.mapping(("image",)).at("image").choice(tuple(IMAGES))]
        case "document":
            return DOCUMENTS[spot.mapping(("document",)).at("document").choice(tuple(DOCUMENTS))]
        case _:
            spot.mapping(("file", "mime"), ("file", "mime"), "a file reference")
            return FileRef(
                mime_type=spot.at("mime").nonempty_text("a media type"), uri=spot.at("file").nonempty_text("a URI")
            )


# -- tools --------------------------------------------------------------------------------------------------


def read_tool(spot: LocatedValue) -> ToolSchema:
    """A declaration: `parameters` is a JSON Schema, or `takes` its short form (`{bed: string, depth?: number}`)."""
    spot.mapping(("name", "description", "parameters", "takes"), ("name",), "a tool")
    if "parameters" in spot.value and "takes" in spot.value:
        spot.at("takes").refuse("'takes' is the short form of 'parameters'; give one of them")
    description = spot.get("description")
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    if parameters_spot := spot.get("parameters"):
        parameters = parameters_spot.json_object("a JSON Schema")
    elif short := spot.get("takes"):
        parameters = _schema_of(short)
    return ToolSchema(
        name=spot.at("name").nonempty_text("a tool name"),
        description=description.text() if description else "",
        parameters=parameters,
    )


def _schema_of(spot: LocatedValue) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for key, member in spot.members("parameters by name"):
        name = key.removesuffix("?")
        properties[name] = {"type": member.choice(TYPES)} if isinstance(member.value, str) else member.json_object()
        if name == key:
            required.append(name)
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def read_result(spot: LocatedValue) -> ToolScript:
    """What a tool returns: a plain value, or a mapping with `result` or `error`, `attachments`, `cases`."""
    if not isinstance(spot.value, dict) or spot.value.keys() == {"repeat", "times"}:
        return ToolScript(result=spot.json())
    return _tool_script(spot, ("result", "error", "attachments", "cases"), "a tool's result")


def _tool_script(spot: LocatedValue, allowed: tuple[str, ...], what: str) -> ToolScript:
    spot.mapping(allowed, what=what)
    result, error, attachments, cases = (spot.get(key) for key in ("result", "error", "attachments", "cases"))
    if error and (result or attachments):
        error.refuse("a tool that fails returns nothing else; give 'error' or 'result'")
    if not (result or error or attachments):
        spot.refuse("needs 'result', 'error' or 'attachments'; an object is written {result: {...}}")
    return ToolScript(
        result=result.json() if result else None,
        error=error.text("the error's text") if error else None,
        attachments=tuple(map(read_attachment, attachments.items())) if attachments else (),
        cases=tuple(map(_tool_case, cases.items())) if cases else (),
    )


def _tool_case(spot: LocatedValue) -> ToolCase:
    spot.mapping(("when", "result", "error", "attachments"), ("when",), "a case")
    when = spot.at("when").json_object("arguments by name")
    rest = {key: value for key, value in spot.value.items() if key != "when"}
    return ToolCase(when=when, then=_tool_script(spot.with_value(rest), ("result", "error", "attachments"), "a case"))


def head_of(spot: LocatedValue, allowed: Collection[str], what: str) -> str:
    """The one key that says which kind of part this is."""
    keys = [key for key, _ in spot.members(f"{what}: a text or one of {', '.join(allowed)}")]
    found = [key for key in keys if key in allowed]
    if len(found) == 1:
        return found[0]
    if found:
        spot.refuse(f"{what} is one thing, not {' and '.join(map(repr, found))}; write two parts")
    hint = next((near for key in keys if (near := did_you_mean(key, allowed))), f"; one of {', '.join(allowed)}")
    raise spot.problem(f"{what} has none of its keys{hint}")
