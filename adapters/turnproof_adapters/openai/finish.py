"""Why an answer ended: the API's words, and those of services that speak it, as the neutral ones."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.messages import FinishReason

FINISH: Mapping[str | None, FinishReason] = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.SAFETY,
    # Of the first models with eyes, in `finish_details`.
    "max_tokens": FinishReason.MAX_TOKENS,
    # Z.ai's own.
    "sensitive": FinishReason.SAFETY,
    "network_error": FinishReason.ERROR,
    "model_context_window_exceeded": FinishReason.CONTEXT_LIMIT,
    # DeepSeek's own.
    "insufficient_system_resource": FinishReason.ERROR,
}
"""Finish reasons; any other, and none, is `unknown`. The API's word stays readable in `raw_finish`."""

WHOLE = frozenset({"stop", "tool_calls", "function_call", None})
"""Reasons under which an answer was not cut: its calls are whole, or the service made a mistake."""


def finish_reason(raw: str | None, *, calls: bool, refused: bool) -> FinishReason:
    """The neutral reason for the API's word. A forced call, and a refusal, end with `stop`: their presence decides."""
    if raw in ("stop", None) and calls:
        return FinishReason.TOOL_USE
    if raw == "stop" and refused:
        return FinishReason.REFUSAL
    return FINISH.get(raw, FinishReason.UNKNOWN)
