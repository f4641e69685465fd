"""What the gateway lets differ between a session's conversation and the request that carries it, with its evidence.

The differences of the Gemini API hold here as far as the gateway hands its contents on; since it was not recorded doing
so, each is marked as inferred, whatever it rests on there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...messages import Message, Part, Thought, ToolSchema
from ..atoms import Atom, tokens_of
from ..base import Call, Evidence, WireDifference
from ..gemini.compare import ALLOWED as _GEMINI
from ..gemini.compare import ContentsComparison
from ..gemini.parts import standard_base64
from ..history_agreement import Comparison
from ..naming import NameMap
from ..tables import load_allowed
from . import rules
from .claude import join_thoughts
from .models import MODELS, is_claude


def differences(
    history: Sequence[Message], system: Part | str | None, tools: Sequence[ToolSchema], call: Call, model: str
) -> list[WireDifference]:
    """Where the request says something else than the session holds, the allowed differences aside."""
    if not is_claude(MODELS.get(call.model or "")):
        return _GeminiComparison.differences(history, system, tools, call, model)
    messages = tuple(Message(each.role, join_thoughts(each.parts), each.message_id) for each in call.messages)
    return _ClaudeComparison.differences(history, system, tools, replace(call, messages=messages), model)


class _GeminiComparison(ContentsComparison):
    dialect = rules.NAME
    models = MODELS


class _ClaudeComparison(_GeminiComparison):
    """Signatures stand on thoughts. In a running tool loop all of them come back as they were, or none."""

    def __init__(self, history: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(history, call, model, names)
        self._sends_thoughts = any(atom.kind == "thought" for atom in self.sent)

    def may_omit_thought(self, thought: Atom) -> bool:
        settled = thought.message < self.last_input or not self._sends_thoughts
        return settled or Comparison.may_omit_thought(self, thought)

    def _region(self, ours: list[Atom], theirs: list[Atom]) -> tuple[list[Atom], list[Atom]]:
        # Not as Gemini's, which has nothing to lose in a thought but its text.
        return Comparison._region(self, ours, theirs)

    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        ours, theirs = tokens_of(held, sent)
        if ours is not None and theirs is not None and standard_base64(ours) == standard_base64(theirs):
            held = Thought(held.text, provider_data=sent.provider_data)
        Comparison._thought(self, atom, held, sent)


_NOT_HERE = frozenset({"served-by-managed-cache", "model-alias"})
"""The gateway manages no caches and has no aliases."""

ALLOWED = (
    *(
        replace(each, evidence=Evidence.INFERRED, source=f"the Gemini API: {each.source}; not seen from the gateway")
        for each in _GEMINI
        if each.name not in _NOT_HERE
    ),
    *load_allowed(__package__),
)
