"""A right adapter that writes the calls and results of a conversation into texts, as libraries do for models that were
not trained on tools: the reference adapter with another form of its messages, and the claim that says so."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from turnproof.messages import FunctionCall, InlineData, Message, Part, Text, ToolResult, thaw
from turnproof.provider import Capabilities, Endpoint
from turnproof_adapters.anthropic.binding import BINDING as REFERENCE


def as_text(message: Message) -> Message:
    """The message with its calls, or its results, written out; the user says what tools have answered."""
    if message.role == "tool":
        return Message("user", tuple(part for result in message.results for part in _observed(result)))
    return Message(message.role, tuple(_called(part) for part in message.parts))


def _called(part: Part) -> Part:
    if not isinstance(part, FunctionCall):
        return part
    return Text("Calling tool: " + json.dumps({"name": part.name, "arguments": thaw(part.args)}, ensure_ascii=False))


def _observed(result: ToolResult) -> Sequence[Part]:
    value = thaw(result.result)
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    failed = "Error" if result.is_error else "Observation"
    pictures = [part for part in result.attachments if isinstance(part, InlineData)]
    return [Text(f"{failed}: {words}", cache=result.cache), *pictures]


class TextCalls:
    """The reference adapter, which gets each message with its calls and results as texts."""

    def __init__(self, endpoint: Endpoint) -> None:
        assert REFERENCE.open_stateless is not None
        self._inner: Any = REFERENCE.open_stateless(endpoint)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def complete(self, messages: Sequence[Message], *rest: Any, **options: Any) -> Any:
        return self._inner.complete([as_text(message) for message in messages], *rest, **options)


def claims(model: str) -> Capabilities:
    """Those of the reference, but for the form of calls."""
    capabilities = REFERENCE.capabilities(model) if callable(REFERENCE.capabilities) else REFERENCE.capabilities
    return dataclasses.replace(capabilities, native_calls=False)


BINDING = dataclasses.replace(
    REFERENCE, name="text-calls", open_stateless=TextCalls, open_legacy=None, capabilities=claims
)
