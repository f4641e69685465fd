"""What this API lets differ between a session's conversation and the request that carries it."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages import FunctionCall, Message, Text, ToolSchema
from ..atoms import Atom
from ..base import Call
from ..naming import NameMap
from ..openai_common import same_parameters
from ..request_comparison import SealedThoughts
from ..tables import load_allowed
from .items import id_of, kind_of, read_item
from .models import LEGAL_NAME, MODELS
from .rules import NAME
from .surfaces import Item, ResponsesCall

ALLOWED = load_allowed(__package__)


class ItemsComparison(SealedThoughts):
    """What the Responses API lets differ in a conversation."""

    dialect = NAME
    legal_name = LEGAL_NAME
    models = MODELS
    same_parameters = staticmethod(same_parameters)
    flags_errors = False

    def __init__(self, history: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(history, call, model, names)
        named = [item for item in ResponsesCall.from_call(call).items if id_of(item) is not None]
        self._ids_sent = {(key, id_of(item)) for item in named for key in _keys(item)}

    @classmethod
    def is_native(cls, tool: ToolSchema, call: Call) -> bool:
        return any(
            each.get("name", each.get("type")) == tool.name and each.get("type", "function") != "function"
            for each in (call.body or {}).get("tools") or ()
        )

    @classmethod
    def is_forced(cls, call: Call) -> bool:
        choice = call.settings.get("tool_choice")
        return choice == "required" or (isinstance(choice, dict) and choice.get("type") == "function")

    # -- reasoning

    def may_omit_thought(self, thought: Atom) -> bool:
        if self.is_required(thought):
            return False
        return super().may_omit_thought(thought) or thought.message < self.last_input

    def is_required(self, thought: Atom) -> bool:
        """Whether what came with this reasoning goes back under the id that it came with: the service then wants the
        reasoning too. An id that the session does not hold is one of the client's own, and means nothing."""
        follower = next((each.part for each in self.held[self.held.index(thought) + 1 :]), None)
        key = follower.id if isinstance(follower, FunctionCall) else getattr(follower, "text", None)
        data = follower.provider_data if follower is not None else None
        if self.is_foreign(thought) or data is None or data.dialect != self.dialect:
            return False
        return any((key, value) in self._ids_sent for value in data.data.values() if isinstance(value, str))


def _keys(item: Item) -> list[str]:
    """By what a held part is known in an item: the id of a call, the text of a message."""
    if kind_of(item) == "function_call":
        return [str(item.get("call_id"))]
    return [part.text for part in read_item(item, "") if isinstance(part, Text)]
