"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ...messages import JSON, Message, Part, Text, Thought, ToolSchema, thaw, to_builtins
from ..agree import Comparison
from ..atoms import Atom, same_json, token_of
from ..base import Call, WireDifference
from ..naming import NameMap
from .models import same_model
from .names import LEGAL_ID, LEGAL_NAME
from .rules import NAME


def differences(
    held: Sequence[Message], system: Part | str | None, tools: Sequence[ToolSchema], call: Call, model: str
) -> list[WireDifference]:
    """Where the request says something else than the session holds, the allowed differences aside."""
    body = call.body or {}
    own = [tool for tool in call.tools if not _is_native(tool, body)]
    names = NameMap(tools, own, LEGAL_NAME)
    instructions = system if isinstance(system, str) else system.text if isinstance(system, Text) else ""
    later = [message.text for message in held if message.role == "system"]
    absorbed, found = _system(instructions, later, call)
    kept = [_without_parts(each) if each.role == "system" and each.text in absorbed else each for each in held]
    comparison = _Messages(kept, call, model, names)
    found += comparison.run()
    found += _tools(tools, own, names, body)
    if call.model is not None and not same_model(call.model, model):
        found.append(WireDifference("unlisted", "$.model", model, call.model, violation=False))
    return found


class _Messages(Comparison):
    dialect = NAME
    legal_id = LEGAL_ID

    def __init__(self, held: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(held, call.messages, names)
        self._model = model
        config = (call.body or {}).get("thinking")
        self._thinking = config.get("type") if isinstance(config, dict) else None
        self._last_said = max((n for n, message in enumerate(held) if _says_something(message)), default=-1)

    def is_foreign(self, atom: Atom) -> bool:
        data = atom.part.provider_data
        if atom.kind == "thought" and data is not None and data.dialect == self.dialect:
            return bool(data.model) and not same_model(data.model, self._model)
        return super().is_foreign(atom)

    def may_omit_thought(self, thought: Atom) -> bool:
        if super().may_omit_thought(thought) or thought.message < self._last_said:
            return True
        return self._thinking in (None, "disabled")

    def demands(self, thought: Atom) -> bool:
        # Adaptive thinking is not known to be demanded back.
        return self._thinking == "enabled"

    def _texts_changed(self, missing: list[Atom], added: list[Atom]) -> None:
        last = self.held[-1] if self.held else None
        for atom in [each for each in missing if each is last and each.side == "model" and each.kind == "text"]:
            twin = next((each for each in added if each.side == "model" and each.text == atom.text.rstrip()), None)
            if twin is not None:
                missing.remove(atom)
                added.remove(twin)
        super()._texts_changed(missing, added)


def _without_parts(message: Message) -> Message:
    return Message(message.role, (), message.message_id)


def _says_something(message: Message) -> bool:
    return message.role == "user" and any(not isinstance(part, Text) or part.text.strip() for part in message.parts)


# -- the system field


def _system(instructions: str, later: Sequence[str], call: Call) -> tuple[set[str], list[WireDifference]]:
    """Which later instructions stand in the system field, and what differs there."""
    blocks = [part.text for part in call.system if isinstance(part, Text)]
    spoken = {message.text for message in call.messages if message.role == "system"}
    candidates = [text for text in later if text not in spoken and text.strip()]
    for absorbed in (candidates, []):
        if any(_is_made_of((instructions, *absorbed), glue.join(blocks)) for glue in ("", "\n", "\n\n")):
            return set(absorbed), []
    # Some later instructions are in the field, others elsewhere: find those that are.
    sent = "\n".join(blocks)
    absorbed = [text for text in candidates if text.strip() in sent]
    rest = sent
    for text in (instructions, *absorbed):
        rest = rest.replace(text.strip(), "", 1)
    if instructions.strip() in sent and not rest.strip():
        return set(absorbed), []
    reflowed = _squashed(instructions + "".join(absorbed)) == _squashed(sent)
    what = "unlisted" if reflowed else "system"
    return set(absorbed), [WireDifference(what, "$.system", instructions or None, sent or None, violation=not reflowed)]


def _is_made_of(texts: Sequence[str], sent: str) -> bool:
    """Whether `sent` is these texts in order, with nothing but white space around them."""
    pattern = r"\s*".join(re.escape(text.strip()) for text in texts if text.strip())
    return re.fullmatch(rf"\s*{pattern}\s*", sent) is not None


def _squashed(text: str) -> str:
    return re.sub(r"\s+", "", text)


# -- the tools


def _is_native(tool: ToolSchema, body: JSON) -> bool:
    """A tool that the service runs itself is no tool of the session."""
    listed = body.get("tools") or ()
    return any(
        each.get("name", each.get("type")) == tool.name and (each.get("type") or "custom") != "custom"
        for each in listed
    )


def _tools(held: Sequence[ToolSchema], sent: Sequence[ToolSchema], names: NameMap, body: JSON) -> list[WireDifference]:
    found = []
    by_name = {tool.name: tool for tool in sent}
    for tool in held:
        path = f"$.tools[{tool.name}]"
        wire = by_name.pop(names.wire_name(tool.name) or "", None)
        if wire is None:
            found.append(WireDifference("tools", path, tool.name, None, violation=True))
            continue
        if tool.description.strip() != wire.description.strip():
            lost = tool.description.strip() not in wire.description
            found.append(WireDifference("tools", f"{path}.description", tool.description, wire.description, lost))
        if not _same_schema(tool.parameters, wire.parameters):
            lost = _loses_parameters(tool.parameters, wire.parameters)
            what = "tools" if lost else "unlisted"
            shown = thaw(tool.parameters), thaw(wire.parameters)
            found.append(WireDifference(what, f"{path}.parameters", *shown, violation=lost))
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    for extra in by_name:
        # A forced choice may force a tool of the adapter's own: that is how structured output was done.
        what = "unlisted" if forced else "tools"
        found.append(WireDifference(what, f"$.tools[{extra}]", None, extra, violation=not forced))
    return found


def _same_schema(held: JSON, sent: JSON) -> bool:
    return same_json(held, sent) or same_json(_filled(held), _filled(sent))


def _filled(schema: JSON) -> JSON:
    if schema.get("type", "object") != "object":
        return schema
    return {"type": "object", "properties": {}} | dict(schema)


def _loses_parameters(held: JSON, sent: JSON) -> bool:
    ours, theirs = held.get("properties") or {}, sent.get("properties") or {}
    return not (ours.keys() <= theirs.keys() and set(held.get("required") or ()) <= set(sent.get("required") or ()))


def match_form(call: Call) -> JSON:
    """Model, system text, tools by name and schema, and messages; no breakpoints, no settings."""
    return {
        "operation": call.operation,
        "model": call.model,
        "system": [part.text for part in call.system if isinstance(part, Text)],
        "tools": sorted(
            ([tool.name, tool.description, thaw(tool.parameters)] for tool in call.tools), key=lambda tool: str(tool[0])
        ),
        "messages": [[message.role, [_matched(part) for part in message.parts]] for message in call.messages],
    }


def _matched(part: Part) -> JSON:
    shown = to_builtins(replace(part, cache=None, provider_data=None))
    token = token_of(part) if isinstance(part, Thought) else None
    return shown | ({"token": token} if token else {})
