"""Every refusal of the chat completions API as a pair: the smallest illegal request, and its nearest legal neighbour.

Data only, so that the same table judges the dialect alone and the emulator behind a real client. A pair whose rule is
only inferred, or silent (`enforced=False`), must be logged, and accepted.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builders import Ask, Pair, world
from . import conversation, requests, settings

__all__ = ["PAIRS", "WITHOUT_PAIR", "Ask", "Pair", "world"]

PAIRS: tuple[Pair, ...] = (
    *requests.addresses(),
    *requests.keys(),
    *requests.shape(),
    *requests.models(),
    *settings.arguments(),
    *settings.tools(),
    *settings.sampling(),
    *settings.form(),
    *conversation.messages(),
    *conversation.pairing(),
    *settings.size(),
)

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the organisation sends: `error_kind(429)` and the faults of the emulator",
    "content-filter": "it depends on what the filter makes of a text: the faults of the emulator (`content_filter`)",
}
"""Rules that no request can break by itself, with the reason."""
