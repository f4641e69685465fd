"""Why an answer ended: the words of the two surfaces and the neutral ones, as data."""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import FinishReason

READ: Mapping[str, FinishReason] = {
    "stop": FinishReason.STOP,
    "load": FinishReason.STOP,
    "unload": FinishReason.STOP,
    "length": FinishReason.MAX_TOKENS,
}

_LENGTH = (FinishReason.MAX_TOKENS, FinishReason.CONTEXT_LIMIT)
_STOP_REASONS: Mapping[str, str] = {"stop": "end_turn", "length": "max_tokens"}
_NEUTRAL_WORDS: Mapping[str, str] = {"stop_sequence": "stop", "end_turn": "stop", "max_tokens": "length"}
"""Words of scenarios, which serve every dialect, that this server has another word for."""


def done_reason(finish: FinishReason, raw: str | None) -> str:
    """The server's word for a scripted reason: it knows an end and a limit, and neither refusals nor pauses."""
    if raw is not None:
        return _NEUTRAL_WORDS.get(raw, raw)
    return "length" if finish in _LENGTH else "stop"


def stop_reason(done: str, *, calls: bool) -> str:
    """What the Anthropic-compatible surface makes of it."""
    return "tool_use" if calls else _STOP_REASONS.get(done, "stop_sequence")


def neutral(done: str | None, *, calls: bool) -> FinishReason | None:
    """The neutral reason; `UNKNOWN` for a word that is not in the table, None for none. A call is a tool use."""
    if done is None:
        return None
    found = READ.get(done, FinishReason.UNKNOWN)
    return FinishReason.TOOL_USE if calls and found is FinishReason.STOP else found
