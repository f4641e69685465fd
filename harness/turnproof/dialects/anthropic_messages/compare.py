"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...messages import JSON, Message, Opaque, Part, Text, Thought, ToolSchema
from ..atoms import Atom, token_of
from ..base import Call, ModelFacts
from ..naming import NameMap
from ..request_comparison import ThoughtsOfModels
from ..request_form import build_form, part_form
from ..tables import load_allowed
from .models import LEGAL_NAME, MODELS
from .rules import NAME

ALLOWED = load_allowed(__package__)


class MessagesComparison(ThoughtsOfModels):
    """What the Messages API lets differ in a conversation."""

    dialect = NAME
    legal_name = LEGAL_NAME
    calls_come_last = True
    models: Mapping[str, ModelFacts] = MODELS

    def __init__(self, history: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(history, call, model, names)
        config = (call.body or {}).get("thinking")
        self._thinking = config.get("type") if isinstance(config, dict) else None

    def may_omit_thought(self, thought: Atom) -> bool:
        if super().may_omit_thought(thought) or thought.message < self.last_input:
            return True
        return self._thinking in (None, "disabled")

    def may_omit(self, atom: Atom) -> bool:
        return super().may_omit(atom) or (atom.message < self.last_input and self._came_to_nothing(atom.part))

    def _came_to_nothing(self, part: Part) -> bool:
        """A call of the service's own without its result."""
        if not isinstance(part, Opaque) or part.kind != "server_tool_use":
            return False
        others = [each.part for each in self.held if isinstance(each.part, Opaque)]
        return all(other.data.get("tool_use_id") != part.data.get("id") for other in others)

    @classmethod
    def is_native(cls, tool: ToolSchema, call: Call) -> bool:
        return any(
            each.get("name", each.get("type")) == tool.name and (each.get("type") or "custom") != "custom"
            for each in (call.body or {}).get("tools") or ()
        )

    @classmethod
    def is_forced(cls, call: Call) -> bool:
        return ((call.body or {}).get("tool_choice") or {}).get("type") in ("any", "tool")

    def is_required(self, thought: Atom) -> bool:
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


def request_form(call: Call) -> JSON:
    """The form of a request; its system texts are told apart, thinking counts with its signature."""
    messages = [[message.role, [_matched(part) for part in message.parts]] for message in call.messages]
    return build_form(call, messages) | {"system": [part.text for part in call.system if isinstance(part, Text)]}


def _matched(part: Part) -> JSON:
    token = token_of(part) if isinstance(part, Thought) else None
    return part_form(part) | ({"token": token} if token else {})
