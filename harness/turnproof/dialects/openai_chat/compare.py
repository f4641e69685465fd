"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from ...messages import Thought, ToolSchema
from ..atoms import Atom, tokens_of
from ..base import Call
from ..openai_common import same_parameters
from ..request_comparison import ThoughtsAreOptional
from ..tables import load_allowed
from .models import LEGAL_NAME, MODELS
from .rules import NAME

ALLOWED = load_allowed(__package__)


class ChatComparison(ThoughtsAreOptional):
    """What the chat completions API lets differ in a conversation."""

    dialect = NAME
    legal_name = LEGAL_NAME
    models = MODELS
    same_parameters = staticmethod(same_parameters)
    joins_thoughts = True
    calls_come_last = True
    flags_errors = False

    @classmethod
    def is_native(cls, tool: ToolSchema, call: Call) -> bool:
        # A tool that is no function stands with all of its definition where others have their parameters.
        return not tool.description and tool.parameters.get("type") == tool.name

    @classmethod
    def is_forced(cls, call: Call) -> bool:
        choice = call.settings.get("tool_choice")
        return choice == "required" or isinstance(choice, dict)

    # -- thinking
    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        """Sent back, its text is all there is to compare; an encrypted form is the service's own, or invented."""
        ours, theirs = tokens_of(held, sent)
        if theirs is not None and ours != theirs:
            self.report("invented", f"{atom.path}.provider_data", ours, theirs, violation=True)
