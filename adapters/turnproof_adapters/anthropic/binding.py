"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.cache import ExplicitCachePlugin
from turnproof.provider import Capabilities

from .._open_provider import ALL_CONTENT_CAPABILITIES, AdapterClasses
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
        documents=facts.documents,
        mid_system=facts.mid_system,
        count_tokens=True,
        cache="explicit",
    )


CLASSES = AdapterClasses(
    __package__, "AnthropicStateless", "AnthropicLegacy", plain_calls={"messages.create": "MessagesCreate"}
)
BINDING = CLASSES.binding(
    "anthropic",
    DIALECT,
    "claude-sonnet-4-6",
    capabilities,
    cache_plugin=lambda provider: ExplicitCachePlugin(),
    package="anthropic",
)
