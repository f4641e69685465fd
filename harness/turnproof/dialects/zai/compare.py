"""What may differ between a session's conversation and a request to this service: what Anthropic lets differ, and
more, since neither signatures nor pairs are known to be checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ...messages import Thought
from ..anthropic_messages.compare import ALLOWED as ANTHROPICS
from ..anthropic_messages.compare import MessagesComparison
from ..atoms import Atom, token_of
from ..base import ModelFacts
from ..request_comparison import ThoughtsAreOptional
from ..tables import load_allowed
from .models import MODELS
from .rules import NAME

_STRICTER = ("old-thinking", "thinking-off")
"""Differences that Anthropic allows for a reason that is none here: the wider ones below stand in their place."""

ALLOWED = (
    *(
        replace(each, source=f"zai.md §2: the request is Anthropic's; {each.source}")
        for each in ANTHROPICS
        if each.name not in _STRICTER
    ),
    *load_allowed(__package__),
)


class ZaiComparison(ThoughtsAreOptional, MessagesComparison):
    """Nothing that was thought has to come back, signed or not."""

    dialect = NAME
    models: Mapping[str, ModelFacts] = MODELS

    def _thought(self, atom: Atom, held: Thought, sent: Thought) -> None:
        if token_of(sent) is None:
            held = with_fields(held, provider_data=None)
        super()._thought(atom, held, sent)
