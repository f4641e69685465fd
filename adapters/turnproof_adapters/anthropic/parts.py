"""Content blocks of an answer as neutral parts, whether they came whole or in pieces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from turnproof.errors import PayloadError
from turnproof.messages import FinishReason, FunctionCall, Opaque, Part, ProviderData, Text, Thought

from .._characters import whole_characters
from .service import Service

FINISH: dict[str | None, FinishReason] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_USE,
    "max_tokens": FinishReason.MAX_TOKENS,
    "pause_turn": FinishReason.PAUSED,
    "refusal": FinishReason.REFUSAL,
    "model_context_window_exceeded": FinishReason.CONTEXT_LIMIT,
}
"""Stop reasons; any other is `unknown` and stays readable in `raw_finish`."""

Restore: TypeAlias = Callable[[str, Any], tuple[str, Any]]
"""From a call as it came, the tool's wire name and the input, to the tool's own name and the arguments."""

CLIPPING = frozenset({"max_tokens", "model_context_window_exceeded", "stop_sequence"})
"""Stop reasons that can end an answer in the middle of a call."""


def finish_reason(stop_reason: str | None) -> FinishReason:
    """The neutral reason for the API's word."""
    return FINISH.get(stop_reason, FinishReason.UNKNOWN)


def part(block: dict[str, Any], service: Service, model: str, restore: Restore) -> Part | None:
    """The part that a finished block is; None for a text block without text.

    A block of an unknown type is kept as `Opaque`. Raises ValueError for a call whose arguments are not an object, and
    for anything in a block that JSON cannot carry: it must not be run, and cannot be sent back.
    """
    try:
        return _part(block, service, model, restore)
    except PayloadError:
        raise ValueError("a block holds what JSON cannot carry") from None


def _part(block: dict[str, Any], service: Service, model: str, restore: Restore) -> Part | None:
    issued: Callable[[dict[str, Any]], ProviderData] = partial(ProviderData, service.dialect, model)
    match block:
        case {"type": "text", "text": str(text)}:
            if not text:
                return None
            citations = block.get("citations")
            return Text(whole_characters(text), provider_data=issued({"citations": citations}) if citations else None)
        case {"type": "thinking", "thinking": str(text)}:
            signature = block.get("signature")
            if signature:
                return Thought(whole_characters(text), provider_data=issued({"signature": signature}))
            return Thought(whole_characters(text), provider_data=None if service.signs else issued({}))
        case {"type": "redacted_thinking", "data": str(data)}:
            return Thought(provider_data=issued({"redacted": data}))
        case {"type": "tool_use"}:
            return _call(block, issued, restore)
        case _:
            kind = block.get("type")
            return Opaque(service.dialect, kind if isinstance(kind, str) else "", block)


def _call(block: dict[str, Any], issued: Callable[[dict[str, Any]], ProviderData], restore: Restore) -> FunctionCall:
    match block:
        case {"id": str(call_id), "name": str(name), "input": wire_arguments}:
            own, args = restore(name, wire_arguments)
            if not isinstance(args, dict | None):
                raise ValueError("arguments that are no object")
            # A direct call is the ordinary kind; only a call made by the service's own code has to say so again.
            caller = block.get("caller")
            indirect = caller is not None and caller != {"type": "direct"}
            data = issued({"caller": caller}) if indirect else None
            return FunctionCall(whole_characters(call_id), whole_characters(own), args or {}, provider_data=data)
    raise ValueError("not a tool call")


def without_clipped_call(parts: tuple[Part, ...], stop_reason: str | None) -> tuple[Part, ...]:
    """The parts less a last call that may have been cut: its arguments hold only what was complete by then."""
    if stop_reason in CLIPPING and parts and isinstance(parts[-1], FunctionCall):
        return parts[:-1]
    return parts
