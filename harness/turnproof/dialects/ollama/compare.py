"""What may differ between a session's conversation and a request to this server, on either surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ...messages import FileRef, FunctionCall, InlineData, Message, Part, Text, Thought, ToolResult, ToolSchema
from ..anthropic_messages.compare import ALLOWED as ANTHROPICS
from ..anthropic_messages.compare import MessagesComparison
from ..atoms import Atom
from ..base import Call, ModelFacts, WireDifference
from ..request_comparison import ThoughtsAreOptional
from ..tables import load_allowed
from .models import MODELS
from .rules import NAME
from .surfaces import OllamaCall, Surface

_STRICTER = ("old-thinking", "thinking-off", "trailing-blanks-of-prefill", "dated-model")
"""Differences that Anthropic allows for a reason that is none here."""

ALLOWED = (
    *(
        replace(each, source=f"ollama.md §2: the request is Anthropic's; {each.source}")
        for each in ANTHROPICS
        if each.name not in _STRICTER
    ),
    *load_allowed(__package__),
)


def differences(
    history: Sequence[Message], system: Part | str | None, tools: Sequence[ToolSchema], call: Call, model: str
) -> list[WireDifference]:
    """Where the request says something else than the session holds, the allowed differences aside."""
    return OllamaComparison.differences(in_order_of(call, history), system, tools, call, model)


def in_order_of(call: Call, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages in the order in which the native API says them; as they are on the other surface."""
    if OllamaCall.from_call(call).surface is not Surface.NATIVE:
        return messages
    return [with_fields(message, parts=tuple(sorted(message.parts, key=_place))) for message in messages]


def _place(part: Part) -> int:
    """Where a message has the part: results are messages of their own, in front of what is said with them."""
    order = (ToolResult, Thought, Text, InlineData | FileRef, FunctionCall)
    return next((n for n, kind in enumerate(order) if isinstance(part, kind)), len(order))


class OllamaComparison(ThoughtsAreOptional, MessagesComparison):
    """Nothing that was thought has to come back; what has no id is paired by tool and order."""

    dialect = NAME
    models: Mapping[str, ModelFacts] = MODELS
    calls_come_last = False

    def _result(self, atom: Atom, held: ToolResult, sent: ToolResult) -> None:
        if held.is_error and not sent.is_error:
            sent, held = self._failure_text(held, sent), with_fields(held, is_error=False)
        super()._result(atom, held, sent)
