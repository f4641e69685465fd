"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .._open_provider import ALL_CONTENT_CAPABILITIES, DECODER_WORDS, KEPT_BY_THE_SERVICE, AdapterClasses
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
        chain_deletion=True,
        background=True,
    )


CLASSES = AdapterClasses(
    __package__, "InteractionsStateless", "InteractionsChain", plain_calls={"interactions.create": "InteractionsCreate"}
)
DIFFERENCES = [DECODER_WORDS, KEPT_BY_THE_SERVICE]
BINDING = CLASSES.binding(
    "google_interactions", DIALECT, "gemini-3.5-flash", capabilities, declared=DIFFERENCES, package="google-genai"
)
