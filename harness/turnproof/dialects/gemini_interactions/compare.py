"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from ...messages import FunctionCall, ToolSchema
from ..atoms import Atom
from ..base import Call
from ..request_comparison import SealedThoughts
from ..tables import load_allowed
from .models import LEGAL_NAME, MODELS
from .rules import NAME

ALLOWED = load_allowed(__package__)


class StepsComparison(SealedThoughts):
    """What the Interactions API lets differ in a conversation."""

    dialect = NAME
    legal_name = LEGAL_NAME
    models = MODELS

    @classmethod
    def is_native(cls, tool: ToolSchema, call: Call) -> bool:
        return any(
            isinstance(each, dict) and each.get("type", "function") == tool.name != "function"
            for each in (call.body or {}).get("tools") or ()
        )

    @classmethod
    def is_forced(cls, call: Call) -> bool:
        choice = call.settings.get("tool_choice")
        allowed = choice.get("allowed_tools") if isinstance(choice, dict) else None
        return choice == "any" or (isinstance(allowed, dict) and allowed.get("mode") == "any")

    # -- thoughts

    def may_omit_thought(self, thought: Atom) -> bool:
        return super().may_omit_thought(thought) or thought.message < self.last_input

    def is_required(self, thought: Atom) -> bool:
        """Whether a call came behind this thought: it has no signature of its own, so the service wants the thought."""
        following = self.held[self.held.index(thought) + 1 :]
        return any(isinstance(each.part, FunctionCall) for each in following if each.message == thought.message)
