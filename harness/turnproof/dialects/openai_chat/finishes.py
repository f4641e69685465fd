"""Why an answer ended: the API's words and the neutral ones, as data.

A forced function ends with `stop` (documented, `openai-chat.md` §3): that it is a tool use is seen by the call. A
refusal ends with `stop` as well and is seen by its field. Z.ai has words of its own (`zai.md` §3).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import FinishReason
from ..finish_words import finish_word_of
from .rules import NAME
from .surfaces import Surface

STOP = "stop"
TOOL_CALLS = "tool_calls"

READ: Mapping[str, FinishReason] = {
    STOP: FinishReason.STOP,
    "length": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    TOOL_CALLS: FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.SAFETY,
    "sensitive": FinishReason.SAFETY,
    "network_error": FinishReason.ERROR,
    "model_context_window_exceeded": FinishReason.CONTEXT_LIMIT,
}

WRITE: Mapping[FinishReason, str] = {
    FinishReason.STOP: STOP,
    FinishReason.TOOL_USE: TOOL_CALLS,
    FinishReason.MAX_TOKENS: "length",
    FinishReason.CONTEXT_LIMIT: "length",
    FinishReason.SAFETY: "content_filter",
    FinishReason.REFUSAL: STOP,
    # No service pauses in its own work here.
    FinishReason.PAUSED: STOP,
}

_ZAI: Mapping[FinishReason, str] = {
    FinishReason.SAFETY: "sensitive",
    FinishReason.CONTEXT_LIMIT: "model_context_window_exceeded",
    FinishReason.ERROR: "network_error",
}

_NEUTRAL_WORDS: Mapping[str, str] = {"stop_sequence": STOP, "max_tokens": "length"}
"""Words of scenarios, and of models that are gone, that this API has another word for."""


def neutral(raw: str | None, *, calls: bool, refused: bool) -> FinishReason | None:
    """The neutral reason; `UNKNOWN` for a word that is not in the table, None for none at all."""
    if raw == STOP and calls:
        return FinishReason.TOOL_USE
    if raw == STOP and refused:
        return FinishReason.REFUSAL
    return None if raw is None else READ.get(raw, FinishReason.UNKNOWN)


def finish_word(finish: FinishReason, raw: str | None, surface: Surface, *, forced: bool) -> str:
    """The word for a scripted reason. Raises HarnessError for one that the surface cannot say."""
    if raw is not None:
        return _NEUTRAL_WORDS.get(raw, raw)
    if finish is FinishReason.TOOL_USE and forced:
        return STOP
    words = {**WRITE, **_ZAI} if surface is Surface.ZAI else WRITE
    return finish_word_of(words, finish, dialect=NAME, member="finish_reason")
