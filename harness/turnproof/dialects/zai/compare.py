"""What may differ between a session's conversation and a request to this service: what Anthropic lets differ, and
more, since neither signatures nor pairs are known to be checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ...messages import Thought
from ..anthropic_messages.allowed import ALLOWED as ANTHROPICS
from ..anthropic_messages.compare import MessagesComparison
from ..atoms import Atom, token_of
from ..base import AllowedDifference, Evidence, ModelFacts
from ..request_comparison import ThoughtsAreOptional
from .models import MODELS
from .rules import NAME

_STRICTER = ("old-thinking", "thinking-off")
"""Differences that Anthropic allows for a reason that is none here: the wider ones below stand in their place."""

ALLOWED: tuple[AllowedDifference, ...] = (
    *(
        replace(each, source=f"zai.md §2: the request is Anthropic's; {each.source}")
        for each in ANTHROPICS
        if each.name not in _STRICTER
    ),
    AllowedDifference(
        "thinking-left-out", "Thinking need not be sent back.",
        Evidence.INFERRED, "zai.md §2: on return not verified; the sheets' README, same shape, other rules",
    ),
    AllowedDifference(
        "unsigned-thinking", "A signature may be left out where the thinking is sent back.",
        Evidence.INFERRED, "zai.md §2: opaque or none, on return not verified",
    ),
    AllowedDifference(
        "mapped-model", "A model may be asked by a Claude name, which the server maps to a GLM one.",
        Evidence.DOCUMENTED, "zai.md §2, docs.z.ai",
    ),
)  # fmt: skip


class ZaiComparison(ThoughtsAreOptional, MessagesComparison):
    """Nothing that was thought has to come back, signed or not."""

    dialect = NAME
    models: Mapping[str, ModelFacts] = MODELS

    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        if token_of(sent) is None:
            held = with_fields(held, provider_data=None)
        super()._thought(atom, held, sent)
