"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ...messages import JSON, Message, Opaque, Part, Text, Thought, ToolSchema, thaw, to_builtins
from ..atoms import Atom, token_of
from ..base import Call, ModelFacts, WireDifference
from ..catalogue import same_model
from ..history_agreement import Comparison
from ..naming import NameMap
from ..preamble import same_schema, settled_instructions, system_differences, text_of, tool_differences
from .models import MODELS
from .names import LEGAL_ID, LEGAL_NAME
from .rules import NAME


class MessagesComparison(Comparison):
    """What the Messages API lets differ in a conversation."""

    dialect = NAME
    legal_id = LEGAL_ID
    models: Mapping[str, ModelFacts] = MODELS

    def __init__(self, held: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(held, call.messages, names)
        self._model = model
        config = (call.body or {}).get("thinking")
        self._thinking = config.get("type") if isinstance(config, dict) else None
        self._last_said = max((n for n, message in enumerate(held) if _says_something(message)), default=-1)

    def is_foreign(self, atom: Atom) -> bool:
        data = atom.part.provider_data
        if atom.kind == "thought" and data is not None and data.dialect == self.dialect:
            return bool(data.model) and not same_model(self.models, data.model, self._model)
        return super().is_foreign(atom)

    def may_omit_thought(self, thought: Atom) -> bool:
        if super().may_omit_thought(thought) or thought.message < self._last_said:
            return True
        return self._thinking in (None, "disabled")

    def may_omit(self, atom: Atom) -> bool:
        return super().may_omit(atom) or (atom.message < self._last_said and self._came_to_nothing(atom.part))

    def _came_to_nothing(self, part: Part) -> bool:
        """A call of the service's own without its result."""
        if not isinstance(part, Opaque) or part.kind != "server_tool_use":
            return False
        others = [each.part for each in self.held if isinstance(each.part, Opaque)]
        return all(other.data.get("tool_use_id") != part.data.get("id") for other in others)

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


def differences(
    held: Sequence[Message],
    system: Part | str | None,
    tools: Sequence[ToolSchema],
    call: Call,
    model: str,
    compared: type[MessagesComparison] = MessagesComparison,
) -> list[WireDifference]:
    """Where the request says something else than the session holds, the allowed differences aside.

    `compared` is the comparison of another service that has the format, but not all of the rules.
    """
    body = call.body or {}
    own = [tool for tool in call.tools if not _is_native(tool, body)]
    names = NameMap(tools, own, LEGAL_NAME)
    later = [message.text for message in held if message.role == "system"]
    spoken = frozenset(message.text for message in call.messages if message.role == "system")
    absorbed, found = system_differences(text_of(system), later, call, spoken)
    comparison = compared(settled_instructions(held, absorbed, call), call, model, names)
    found += comparison.run()
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    found += tool_differences(tools, own, call.tools, names, same_schema, forced=forced)
    if call.model is not None and not same_model(compared.models, call.model, model):
        found.append(WireDifference("unlisted", "$.model", model, call.model, violation=False))
    return found


def _says_something(message: Message) -> bool:
    return message.role == "user" and any(not isinstance(part, Text) or part.text.strip() for part in message.parts)


def _is_native(tool: ToolSchema, body: JSON) -> bool:
    """A tool that the service runs itself is no tool of the session."""
    listed = body.get("tools") or ()
    return any(
        each.get("name", each.get("type")) == tool.name and (each.get("type") or "custom") != "custom"
        for each in listed
    )


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
