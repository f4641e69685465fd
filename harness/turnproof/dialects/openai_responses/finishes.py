"""Why an answer ended: a status, the reason of an incomplete one, and what the neutral words for them are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...messages import FinishReason


class Ending(NamedTuple):
    """The status of a response and, where it is `incomplete`, why."""

    status: str
    reason: str | None = None

    @property
    def word(self) -> str:
        """The one word that says most: the reason if there is one, else the status."""
        return self.reason or self.status


STATUSES = frozenset({"completed", "failed", "in_progress", "cancelled", "queued", "incomplete"})
"""openai 3.54, `ResponseStatus`."""

_READ: Mapping[str, FinishReason] = {
    "completed": FinishReason.STOP,
    "failed": FinishReason.ERROR,
    "cancelled": FinishReason.CANCELLED,
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.SAFETY,
}

WRITE: Mapping[FinishReason, Ending] = {
    FinishReason.STOP: Ending("completed"),
    FinishReason.TOOL_USE: Ending("completed"),
    FinishReason.REFUSAL: Ending("completed"),
    FinishReason.MAX_TOKENS: Ending("incomplete", "max_output_tokens"),
    FinishReason.CONTEXT_LIMIT: Ending("incomplete", "max_output_tokens"),
    # The service goes on with its own work by itself.
    FinishReason.PAUSED: Ending("completed"),
    FinishReason.SAFETY: Ending("incomplete", "content_filter"),
    FinishReason.ERROR: Ending("failed"),
    FinishReason.CANCELLED: Ending("cancelled"),
}


_NEUTRAL_WORDS: Mapping[str, str] = {"stop_sequence": "completed"}
"""Words of scenarios that this API has another word for: it takes no stop sequences, and has two reasons for an
incomplete response."""


def ending_of(word: str) -> Ending:
    """What a raw word stands for: a status, or else the reason of an incomplete response."""
    word = _NEUTRAL_WORDS.get(word, word)
    return Ending(word) if word in STATUSES else Ending("incomplete", word)


def neutral(ending: Ending, *, calls: bool, refused: bool) -> FinishReason:
    """The neutral reason. The API has one status for an answer, a refusal and calls: what came says which it was."""
    reason = _READ.get(ending.word, FinishReason.UNKNOWN)
    if reason is FinishReason.STOP:
        return FinishReason.TOOL_USE if calls else FinishReason.REFUSAL if refused else reason
    return reason
