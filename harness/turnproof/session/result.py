"""What a finished turn hands back."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..messages import JSON, ProviderResponse, TokenUsage
from .retry import Retry


class TurnResult(msgspec.Struct, frozen=True):
    """How a turn ended; one that failed raised instead.

    `response` is the last provider call's (empty, with finish `cancelled`, if none answered). `text` is all visible
    text of the turn, and what `on_chunk` was given, joined. `rounds` counts the calls that were answered,
    `attempts` also those that failed and were repeated. `usage` is the last call's that was not zero: each call's
    prompt contains the ones before it, so a sum would count the conversation many times. `retries` are the failures
    that were followed by a wait, in order; a cancel in the last one's wait leaves it without its attempt.
    """

    response: ProviderResponse
    text: str
    rounds: int
    usage: TokenUsage
    outcome: Literal["answer", "cancelled"]
    attempts: int
    retries: tuple[Retry, ...] = ()

    @property
    def structured_output(self) -> JSON:
        """The parsed JSON of the last response when a schema was given, else None."""
        return self.response.structured_output
