"""The differences between what a session holds and what goes over this wire that are right, with their evidence.

Those of the Gemini API hold here as far as the gateway hands its contents on; since it was not recorded doing so, each
is marked as inferred, whatever it rests on there.
"""

from __future__ import annotations

from dataclasses import replace

from ..base import AllowedDifference, Evidence
from ..gemini.allowed import ALLOWED as _GEMINI

_NOT_HERE = frozenset({"served-by-managed-cache", "model-alias"})
"""The gateway manages no caches and has no aliases."""

ALLOWED: tuple[AllowedDifference, ...] = (
    *(
        replace(each, evidence=Evidence.INFERRED, source=f"the Gemini API: {each.source}; not seen from the gateway")
        for each in _GEMINI
        if each.name not in _NOT_HERE
    ),
    AllowedDifference(
        "claude-thinking-left-out", "All thinking of a Claude model may be left out, also in a running tool loop.",
        Evidence.CLIENT, "antigravity.md §5; NoeFabris/opencode-antigravity-auth does so unless told otherwise",
    ),
    AllowedDifference(
        "claude-legal-call-ids", "An id that Anthropic itself refuses may be rewritten, alike in call and response.",
        Evidence.INFERRED, "anthropic.md §5: tool_use.id; nobody was seen sending one through the gateway",
    ),
    AllowedDifference(
        "claude-thinking-in-pieces", "A thought of a Claude model may be sent in the pieces in which it came.",
        Evidence.INFERRED, "antigravity.md §3: its signature comes on a piece of its own",
    ),
)  # fmt: skip
