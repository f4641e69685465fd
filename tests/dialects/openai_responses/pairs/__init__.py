"""Every refusal of the Responses API as a pair: the smallest illegal request, and its nearest legal neighbour.

Data only, so that the same table judges the dialect alone and the emulator behind a real socket. A pair whose rule is
only inferred (`enforced=False`) must be logged, and accepted.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builders import Ask, Pair, world
from . import conversation, requests

__all__ = ["PAIRS", "WITHOUT_PAIR", "Ask", "Pair", "world"]

PAIRS: tuple[Pair, ...] = (
    *requests.headers(),
    *requests.shape(),
    *requests.ids(),
    *conversation.settings(),
    *conversation.tools(),
    *conversation.held(),
    *conversation.pairing(),
    *conversation.thoughts(),
    *conversation.size(),
)

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the organisation sends: `error_kind(429)` and the faults of the emulator",
    "overloaded": "it depends on the load of the service: `error_kind(503)` and the faults of the emulator",
}
"""Rules that no request can break by itself, with the reason."""
