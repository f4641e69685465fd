"""What a request and the session's history have to agree on: system text, messages, tools and the model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ..messages import JSON, Message, Part, ProviderData, Text, Thought, ToolSchema
from .atoms import Atom, tokens_of
from .base import Call, ModelFacts, WireDifference
from .catalogue import same_model
from .history_agreement import Comparison
from .naming import NameMap
from .preamble import same_schema, settled_instructions, system_differences, text_of, tool_differences
from .stored_calls import StoredCall
from .text_calls import with_native_calls
from .tool_pairing import kept_for_history


class RequestComparison(Comparison):
    """The comparison of one request. A dialect's subclass names what its service knows and what it lets differ."""

    legal_name: ClassVar[re.Pattern[str]]
    models: Mapping[str, ModelFacts]

    def __init__(self, history: Sequence[Message], call: Call, model: str, names: NameMap) -> None:
        super().__init__(history, call.messages, names)
        self.model = model
        self.last_input = max((n for n, message in enumerate(history) if _is_input(message)), default=-1)
        """Where the last message stands in which the user says something: what comes after it is the running turn."""

    @classmethod
    def differences(
        cls, history: Sequence[Message], system: Part | str | None, tools: Sequence[ToolSchema], call: Call, model: str
    ) -> list[WireDifference]:
        """Where `call` differs from what the session holds, allowed differences aside."""
        own = [tool for tool in call.tools if not cls.is_native(tool, call)]
        names = NameMap(tools, own, cls.legal_name)
        messages = with_native_calls(
            history, call.messages, lambda name: names.wire_name(name) or _UNUSUAL.sub("_", name)
        )
        if isinstance(call, StoredCall):
            held_there = names.with_offered_names(messages[: call.managed_messages])
            messages = [*held_there, *messages[call.managed_messages :]]
        call = replace(call, messages=tuple(messages))
        later = [message.text for message in history if message.role == "system"]
        in_conversation = frozenset(message.text for message in call.messages if message.role == "system")
        absorbed, found = system_differences(text_of(system), later, call, in_conversation)
        found += cls(settled_instructions(history, absorbed, call), call, model, names).run()
        forced, extras = cls.is_forced(call), kept_for_history(tools, own, call.messages)
        found += tool_differences(
            tools, own, call.tools, names, cls.same_parameters, forced=forced, allowed_extras=extras
        )
        if call.model is not None and not cls.is_same_model(call.model, model):
            found.append(WireDifference("unlisted", "$.model", model, call.model, violation=False))
        return found

    # -- what a dialect decides

    @classmethod
    def is_native(cls, tool: ToolSchema, call: Call) -> bool:
        """Whether a tool of the request is one that the service runs itself, and no tool of the session."""
        raise NotImplementedError

    @classmethod
    def is_forced(cls, call: Call) -> bool:
        """Whether the request forces the model to call a tool."""
        raise NotImplementedError

    @classmethod
    def is_same_model(cls, requested: str, model: str) -> bool:
        """Whether the requested name means the session's model."""
        return same_model(cls.models, requested, model)

    @staticmethod
    def same_parameters(held: JSON, sent: JSON) -> bool:
        """Whether two schemas of a tool's parameters mean the same."""
        return same_schema(held, sent)

    def is_of_another_model(self, data: ProviderData) -> bool:
        """Whether another model than the session's has issued this."""
        return bool(data.model) and not same_model(self.models, data.model, self.model)


class ThoughtsAreOptional(RequestComparison):
    """For a service that takes thinking back and requires none of it."""

    def may_omit_thought(self, thought: Atom) -> bool:
        return True

    def is_required(self, thought: Atom) -> bool:
        return False


class ThoughtsOfModels(RequestComparison):
    """For a service whose thinking is worth something to the model alone that thought it."""

    def is_foreign(self, atom: Atom) -> bool:
        data = atom.part.provider_data
        if atom.kind == "thought" and data is not None and data.dialect == self.dialect:
            return self.is_of_another_model(data)
        return super().is_foreign(atom)


class SealedThoughts(ThoughtsOfModels):
    """For a service that seals its thinking: the seal goes back as it came, the text may be left out."""

    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        ours, theirs = tokens_of(held, sent)
        foreign = ours is None or self.is_foreign(atom)
        if ours != theirs and not (foreign and theirs is None):
            what = "invented" if foreign else "lost-signature"
            self.report(what, f"{atom.path}.provider_data", ours, theirs, violation=True)
        if sent.text not in ("", held.text):
            self.report("unlisted", f"{atom.path}.text", held.text, sent.text, violation=False)


_UNUSUAL = re.compile(r"[^a-zA-Z0-9_-]")
"""What every service refuses in the name of a tool, or some do."""


def _is_input(message: Message) -> bool:
    return message.role == "user" and any(not isinstance(part, Text) or part.text.strip() for part in message.parts)
