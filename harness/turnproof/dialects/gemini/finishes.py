"""Why an answer ended: the API's words and the neutral ones, as data.

A call ends with `STOP` like anything else: that it is a tool use is seen by the call. Words are those of
`FinishReason` and `BlockedReason` in google-genai 3.4; recorded are `STOP` (also as the number 1), `MAX_TOKENS`,
`SAFETY`, `UNEXPECTED_TOOL_CALL` and `MODEL_ARMOR`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import JSON, FinishReason
from ..finish_words import finish_word_of
from .rules import NAME

STOP = "STOP"
MAX_TOKENS = "MAX_TOKENS"
SAFETY = "SAFETY"
MODEL_ARMOR = "MODEL_ARMOR"
MALFORMED_CALL = "MALFORMED_FUNCTION_CALL"
UNEXPECTED_CALL = "UNEXPECTED_TOOL_CALL"

READ: Mapping[str, FinishReason] = {
    STOP: FinishReason.STOP,
    MAX_TOKENS: FinishReason.MAX_TOKENS,
    "CONTINUATION": FinishReason.PAUSED,
    MALFORMED_CALL: FinishReason.ERROR,
    UNEXPECTED_CALL: FinishReason.ERROR,
    "TOO_MANY_TOOL_CALLS": FinishReason.ERROR,
    "MISSING_THOUGHT_SIGNATURE": FinishReason.ERROR,
    "MALFORMED_RESPONSE": FinishReason.ERROR,
    "NO_IMAGE": FinishReason.ERROR,
    "OTHER": FinishReason.ERROR,
    "IMAGE_OTHER": FinishReason.ERROR,
    SAFETY: FinishReason.SAFETY,
    "RECITATION": FinishReason.SAFETY,
    "BLOCKLIST": FinishReason.SAFETY,
    "PROHIBITED_CONTENT": FinishReason.SAFETY,
    "SPII": FinishReason.SAFETY,
    "IMAGE_SAFETY": FinishReason.SAFETY,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.SAFETY,
    "IMAGE_RECITATION": FinishReason.SAFETY,
    "ESCALATION": FinishReason.SAFETY,
    MODEL_ARMOR: FinishReason.SAFETY,
    "LANGUAGE": FinishReason.REFUSAL,
    "PUP_LIMITED_DISABLED": FinishReason.REFUSAL,
    "FINISH_REASON_UNSPECIFIED": FinishReason.UNKNOWN,
}

_BY_NUMBER: Mapping[str, FinishReason] = {
    "0": FinishReason.UNKNOWN,
    "1": FinishReason.STOP,
    "2": FinishReason.MAX_TOKENS,
    "3": FinishReason.SAFETY,
    "4": FinishReason.SAFETY,
    "5": FinishReason.ERROR,
    "7": FinishReason.SAFETY,
    "8": FinishReason.SAFETY,
    "11": FinishReason.SAFETY,
}
"""Numbers that mean the same in `Candidate.FinishReason` of both protos (`google.ai.generativelanguage.v1beta`,
`google.cloud.aiplatform.v1`). From 6 on each counts its own words: 9 is SPII in one and MALFORMED_FUNCTION_CALL in the
other, and an answer does not say which of the two it is of."""

WRITE: Mapping[FinishReason, str] = {
    FinishReason.STOP: STOP,
    FinishReason.TOOL_USE: STOP,
    # The service neither pauses in its own work nor has a word for a full window.
    FinishReason.PAUSED: STOP,
    FinishReason.MAX_TOKENS: MAX_TOKENS,
    FinishReason.CONTEXT_LIMIT: MAX_TOKENS,
    FinishReason.SAFETY: SAFETY,
    FinishReason.REFUSAL: "PROHIBITED_CONTENT",
}

PROMPT_BLOCKED = "PROMPT_BLOCKED"
"""In a script, `PROMPT_BLOCKED:REASON` is an answer without candidates, whose `promptFeedback` has that reason."""

_NEUTRAL_WORDS: Mapping[str, str] = {"stop_sequence": STOP}
"""Words of scenarios, which serve every dialect, that this API has another word for."""


def neutral(raw: str | None, *, calls: bool) -> FinishReason | None:
    """The neutral reason; `UNKNOWN` for a word that is not in the table, None for none at all, and for a number that
    the two surfaces count differently.

    With a whole call to be answered it is a tool use, also where the model called what nobody had declared.
    """
    if raw is None:
        return None
    if calls and raw in (STOP, "1", UNEXPECTED_CALL):
        return FinishReason.TOOL_USE
    return _BY_NUMBER.get(raw) if raw.isdecimal() else READ.get(raw, FinishReason.UNKNOWN)


def word_of(value: JSON) -> str | None:
    """A `finishReason` as text: a word, or the number of one (`$alt=json;enum-encoding=int`); None for none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value)


def finish_word(finish: FinishReason, raw: str | None) -> str:
    """The word for a scripted reason. Raises HarnessError for one that the API cannot say."""
    if raw is not None:
        return _NEUTRAL_WORDS.get(raw, raw)
    return finish_word_of(WRITE, finish, dialect=NAME, member="finishReason")


def block_reason(raw: str | None) -> str | None:
    """The `blockReason` where a scripted word says that the prompt was not answered at all; None for any other."""
    head, _, reason = (raw or "").partition(":")
    return (reason or SAFETY) if head == PROMPT_BLOCKED else None
