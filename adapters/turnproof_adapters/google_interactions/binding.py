"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities

from .._open_provider import (
    ALL_CONTENT_CAPABILITIES,
    DECODER_WORDS,
    KEPT_BY_THE_SERVICE,
    LegacyOpener,
    PlainCallOpener,
    StatelessOpener,
)
from .models import DIALECT
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model."""
    facts = facts_of(model)
    return replace(
        ALL_CONTENT_CAPABILITIES,
        thinking=facts.thinks,
        opaque_thinking=facts.thinks,
        structured=facts.structured,
        cache="implicit",
        chain=True,
    )


BINDING = Binding(
    name="google_interactions",
    dialect=DIALECT,
    model="gemini-3.5-flash",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.google_interactions.stateless:InteractionsStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.google_interactions.legacy:InteractionsChain"),
    declared=[DECODER_WORDS, KEPT_BY_THE_SERVICE],
    plain_calls={
        "interactions.create": PlainCallOpener("turnproof_adapters.google_interactions.plain:InteractionsCreate")
    },
    package="google-genai",
)
