"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages import FileRef, InlineData, Message, Text, Thought, ToolSchema
from ..atoms import Atom, media_key, tokens_of
from ..base import Call
from ..naming import NameMap
from ..openai_common import same_parameters
from ..request_comparison import ThoughtsAreOptional
from ..tables import load_allowed
from .models import LEGAL_NAME, MODELS
from .rules import NAME

_FEW_WORDS = 64
"""Characters that may stand beside an attachment that could not go into its result."""


ALLOWED = load_allowed(__package__)


class ChatComparison(ThoughtsAreOptional):
    """What the chat completions API lets differ in a conversation."""

    dialect = NAME
    legal_name = LEGAL_NAME
    models = MODELS
    same_parameters = staticmethod(same_parameters)
    joins_thoughts = True
    calls_come_last = True
    attaches_beside = True
    flags_errors = False

    def __init__(self, history: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(history, call, model, names)
        self._sent_messages = call.messages

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

    # -- attachments of results

    def _added(self, atom: Atom) -> None:
        if isinstance(atom.part, Text) and len(atom.part.text) <= _FEW_WORDS and self._stands_beside(atom):
            return
        super()._added(atom)

    def _stands_beside(self, atom: Atom) -> bool:
        """Whether a text is in a message that says nothing of its own: it shows what results have attached."""
        message = self._sent_messages[atom.message]
        shown = [part for part in message.parts if isinstance(part, InlineData | FileRef)]
        return message.role == "user" and bool(shown) and all(map(self._is_attached, shown))

    def _is_attached(self, part: InlineData | FileRef) -> bool:
        return media_key(part) in self._attached()
