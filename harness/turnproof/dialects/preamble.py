"""What stands before the conversation, compared: the instructions of the system field, and the tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..messages import JSON, Message, Part, Text, ToolSchema, thaw
from .atoms import same_json
from .base import Call, WireDifference
from .naming import NameMap
from .schema_members import allows_the_same, loses_constraints
from .text_equality import same_inside
from .tool_pairing import names_in, without_additions

SameSchema: TypeAlias = Callable[[JSON, JSON], bool]


def text_of(system: Part | str | None) -> str:
    """The instructions that a session holds, as text; empty for none."""
    return system if isinstance(system, str) else system.text if isinstance(system, Text) else ""


def system_differences(
    instructions: str, later: Sequence[str], call: Call, in_conversation: frozenset[str] = frozenset()
) -> tuple[set[str], list[WireDifference]]:
    """Which later instructions stand in the system field, and what differs there.

    `later` are the session's instructions in mid-conversation, `in_conversation` those that stand in the conversation.
    """
    texts = [part.text for part in call.system if isinstance(part, Text)]
    candidates = [text for text in later if text not in in_conversation and text.strip()]
    for absorbed in (candidates, []):
        if any(_is_made_of((instructions, *absorbed), glue.join(texts)) for glue in ("", "\n", "\n\n")):
            return set(absorbed), []
    # Some later instructions are in the field, others elsewhere: find those that are.
    sent = "\n".join(texts)
    absorbed = [text for text in candidates if text.strip() in sent]
    rest = sent
    for text in (instructions, *absorbed):
        rest = rest.replace(text.strip(), "", 1)
    if instructions.strip() in sent and not rest.strip():
        return set(absorbed), []
    # Between the blocks of a system text, and between instructions, any white space may stand.
    in_one = len(texts) == 1 and not absorbed
    same = same_inside(instructions, sent) if in_one else _squashed(instructions + "".join(absorbed)) == _squashed(sent)
    what = "unlisted" if same else "system"
    shown = instructions or None, sent or None
    return set(absorbed), [WireDifference(what, "$.system", *shown, not same, sent_path="$.sent.system")]


def settled_instructions(history: Sequence[Message], absorbed: set[str], call: Call) -> list[Message]:
    """The conversation with each instruction in the place where the request may have it.

    One that was `absorbed` into the system field stands there alone; one that the API has no role for may go out in
    the user's name.
    """
    user_texts = {
        part.text for one in call.messages if one.role == "user" for part in one.parts if isinstance(part, Text)
    }
    settled = []
    for message in history:
        if message.role == "system" and message.text in absorbed:
            message = Message(message.role, (), message.message_id)
        elif message.role == "system" and message.text in user_texts:
            message = Message("user", message.parts, message.message_id)
        settled.append(message)
    return settled


def _is_made_of(texts: Sequence[str], sent: str) -> bool:
    """Whether `sent` is these texts in order, with nothing but white space around them."""
    rest = sent.strip()
    for text in map(str.strip, texts):
        if not rest.startswith(text):
            return False
        rest = rest[len(text) :].lstrip()
    return not rest


def _squashed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def tool_differences(
    tools: Sequence[ToolSchema],
    sent: Sequence[ToolSchema],
    declared: Sequence[ToolSchema],
    names: NameMap,
    same: SameSchema,
    *,
    forced: bool,
    allowed_extras: frozenset[str] = frozenset(),
) -> list[WireDifference]:
    """What differs in the declared tools; their order does not count.

    `sent` are those of `declared`, which the request has, that the service does not run itself. `forced` says that a
    call is demanded, and `allowed_extras` which tools may be declared beside those held.
    """
    found = []
    by_name = {tool.name: tool for tool in sent}
    places = {tool.name: f"$.sent.tools[{n}]" for n, tool in enumerate(declared)}
    for tool in tools:
        path = f"$.tools[{tool.name}]"
        wire = by_name.pop(names.wire_name(tool.name) or "", None)
        if wire is None:
            found.append(WireDifference("tools", path, tool.name, None, True, sent_path="$.sent.tools"))
            continue
        at = places[wire.name]
        if tool.description.strip() != wire.description.strip():
            is_lost = tool.description.strip() not in wire.description
            texts = tool.description, wire.description
            found.append(WireDifference("tools", f"{path}.description", *texts, is_lost, sent_path=f"{at}.description"))
        plain = without_additions(tool.parameters, wire.parameters)
        if not same(tool.parameters, wire.parameters) and not same(tool.parameters, plain):
            weakened = (_loses_parameters, loses_constraints, _demands_more)
            is_lost = any(differs(tool.parameters, wire.parameters) for differs in weakened)
            if not is_lost and allows_the_same(tool.parameters, wire.parameters):
                continue
            what = "tools" if is_lost else "unlisted"
            shown = thaw(tool.parameters), thaw(wire.parameters)
            found.append(WireDifference(what, f"{path}.parameters", *shown, is_lost, sent_path=f"{at}.parameters"))
    for extra in by_name.keys() - allowed_extras:
        # A forced choice may force a tool of the adapter's own: that is how structured output was done.
        what = "unlisted" if forced else "tools"
        found.append(WireDifference(what, f"$.tools[{extra}]", None, extra, not forced, sent_path=places[extra]))
    return found


def same_schema(held: JSON, sent: JSON) -> bool:
    """Whether two schemas of parameters are equal; one that says nothing is that of an object without properties."""
    return same_json(held, sent) or same_json(_filled(held), _filled(sent))


def _filled(schema: JSON) -> JSON:
    if schema.get("type", "object") != "object":
        return schema
    return {"type": "object", "properties": {}} | dict(schema)


def _loses_parameters(held: JSON, sent: JSON) -> bool:
    return any(not names_in(held.get(key)) <= names_in(sent.get(key)) for key in ("properties", "required"))


def _demands_more(held: JSON, sent: JSON) -> bool:
    """Whether the model has to fill in a parameter that it could leave out, and cannot say null."""
    demanded = names_in(sent.get("required")) - names_in(held.get("required"))
    parameters = sent.get("properties")
    return any(not _may_be_null(parameters[name]) for name in demanded & names_in(parameters))


def _may_be_null(schema: JSON) -> bool:
    """Whether null fits a schema; also where a reference or a part of it leaves that open."""
    if not isinstance(schema, Mapping) or schema.get("nullable") is True:
        return True
    branches = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(branches, list | tuple):
        return any(map(_may_be_null, branches))
    if "enum" in schema:
        return None in schema["enum"]
    kinds = schema.get("type")
    return kinds is None or "null" in (kinds if isinstance(kinds, list | tuple) else (kinds,))
