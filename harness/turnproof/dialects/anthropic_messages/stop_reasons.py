"""Why an answer ended: the API's words and the neutral ones, as data."""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import FinishReason

READ: Mapping[str, FinishReason] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_USE,
    "max_tokens": FinishReason.MAX_TOKENS,
    "pause_turn": FinishReason.PAUSED,
    "refusal": FinishReason.REFUSAL,
    "model_context_window_exceeded": FinishReason.CONTEXT_LIMIT,
}

WRITE: Mapping[FinishReason, str] = {
    FinishReason.STOP: "end_turn",
    FinishReason.TOOL_USE: "tool_use",
    FinishReason.MAX_TOKENS: "max_tokens",
    FinishReason.PAUSED: "pause_turn",
    FinishReason.REFUSAL: "refusal",
    FinishReason.SAFETY: "refusal",
    FinishReason.CONTEXT_LIMIT: "model_context_window_exceeded",
}


def neutral(stop_reason: str | None) -> FinishReason | None:
    """The neutral reason; `UNKNOWN` for a word that is not in the table, None for none at all."""
    return None if stop_reason is None else READ.get(stop_reason, FinishReason.UNKNOWN)
