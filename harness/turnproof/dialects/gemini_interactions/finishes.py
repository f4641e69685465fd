"""Why an answer ended: the status of an interaction, and the neutral words for it.

Recorded are `in_progress`, `completed` and `incomplete` (the limit of output was reached); `requires_action` is
documented with an example. The others are those of `InteractionStatus` in google-genai 3.6. The API has no word for a
refusal or a filter: such an answer is `completed`, or `failed`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import FinishReason
from ..finish_words import finish_word_of
from .rules import NAME

COMPLETED, REQUIRES_ACTION, INCOMPLETE, FAILED = "completed", "requires_action", "incomplete", "failed"
IN_PROGRESS, QUEUED, CANCELLED = "in_progress", "queued", "cancelled"

OPEN = (None, IN_PROGRESS, QUEUED)
"""Statuses of an interaction that has not ended."""

_READ: Mapping[str, FinishReason] = {
    COMPLETED: FinishReason.STOP,
    REQUIRES_ACTION: FinishReason.TOOL_USE,
    INCOMPLETE: FinishReason.MAX_TOKENS,
    "budget_exceeded": FinishReason.MAX_TOKENS,
    "requires_continuation": FinishReason.PAUSED,
    FAILED: FinishReason.ERROR,
    CANCELLED: FinishReason.CANCELLED,
}

_WRITE: Mapping[FinishReason, str] = {
    FinishReason.STOP: COMPLETED,
    FinishReason.TOOL_USE: REQUIRES_ACTION,
    FinishReason.REFUSAL: COMPLETED,
    FinishReason.PAUSED: "requires_continuation",
    FinishReason.MAX_TOKENS: INCOMPLETE,
    FinishReason.CONTEXT_LIMIT: INCOMPLETE,
    FinishReason.SAFETY: INCOMPLETE,
    FinishReason.ERROR: FAILED,
    FinishReason.CANCELLED: CANCELLED,
}

_NEUTRAL_WORDS: Mapping[str, str] = {"stop_sequence": COMPLETED}
"""Words of scenarios, which serve every dialect, that this API has another word for."""


def neutral(status: str | None, *, calls: bool) -> FinishReason | None:
    """The neutral reason; None for an interaction that has not ended, `UNKNOWN` for a status that is not in the table.

    With a whole call to be answered it is a tool use.
    """
    if status in OPEN:
        return None
    reason = _READ.get(str(status), FinishReason.UNKNOWN)
    return FinishReason.TOOL_USE if calls and reason is FinishReason.STOP else reason


def status_of(finish: FinishReason, raw: str | None) -> str:
    """The status for a scripted reason. Raises HarnessError for one that the API cannot say."""
    if raw is not None:
        return _NEUTRAL_WORDS.get(raw, raw)
    return finish_word_of(_WRITE, finish, dialect=NAME, member="status")
