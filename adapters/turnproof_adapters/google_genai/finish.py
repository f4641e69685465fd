"""Why an answer ended: the API's words, as the neutral ones."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.errors import TransportError
from turnproof.messages import FinishReason

FINISH: Mapping[str | None, FinishReason] = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.MAX_TOKENS,
    "CONTINUATION": FinishReason.PAUSED,
    "SAFETY": FinishReason.SAFETY,
    "RECITATION": FinishReason.SAFETY,
    "BLOCKLIST": FinishReason.SAFETY,
    "PROHIBITED_CONTENT": FinishReason.SAFETY,
    "SPII": FinishReason.SAFETY,
    "MODEL_ARMOR": FinishReason.SAFETY,
    "ESCALATION": FinishReason.SAFETY,
    "IMAGE_SAFETY": FinishReason.SAFETY,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.SAFETY,
    "IMAGE_RECITATION": FinishReason.SAFETY,
    "LANGUAGE": FinishReason.REFUSAL,
    "PUP_LIMITED_DISABLED": FinishReason.REFUSAL,
    "OTHER": FinishReason.ERROR,
    "IMAGE_OTHER": FinishReason.ERROR,
    "NO_IMAGE": FinishReason.ERROR,
    "TOO_MANY_TOOL_CALLS": FinishReason.ERROR,
    "UNEXPECTED_TOOL_CALL": FinishReason.ERROR,
    "MISSING_THOUGHT_SIGNATURE": FinishReason.ERROR,
}
"""Finish reasons; any other, and none, is `unknown`. The API's word stays readable in `raw_finish`."""

_NO_ANSWERS: Mapping[str | None, str] = {
    "MALFORMED_FUNCTION_CALL": "the model wrote a call that cannot be read",
    "MALFORMED_RESPONSE": "the model wrote an answer that cannot be read",
}
"""Finish reasons of an answer that is none."""

CALLING: frozenset[str | None] = frozenset({"STOP", "UNEXPECTED_TOOL_CALL", None})
"""Reasons under which an answer's calls are to be answered. `STOP` is what the API says of calls as of anything."""


def finish_reason(raw: str | None, *, has_calls: bool, calling: frozenset[str | None] = CALLING) -> FinishReason:
    """The neutral reason for the API's word. It has none for calls: their presence decides."""
    if has_calls and raw in calling:
        return FinishReason.TOOL_USE
    return FINISH.get(raw, FinishReason.UNKNOWN)


def unusable(raw: str | None, message: str | None) -> TransportError | None:
    """What is wrong with an answer that is none, and what the service says of it: asking again usually helps."""
    reason = _NO_ANSWERS.get(raw)
    if reason is None:
        return None
    return TransportError(f"{reason}: {message}" if message else reason, kind=raw)
