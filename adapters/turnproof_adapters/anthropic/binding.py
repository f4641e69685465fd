"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.cache import ExplicitCachePlugin
from turnproof.provider import Binding, Capabilities

from .._open_provider import ALL_CONTENT_CAPABILITIES, DECODER_WORDS, LegacyOpener, PlainCallOpener, StatelessOpener
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


BINDING = Binding(
    name="anthropic",
    dialect=DIALECT,
    model="claude-sonnet-4-6",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.anthropic.stateless:AnthropicStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.anthropic.legacy:AnthropicLegacy"),
    declared=[DECODER_WORDS],
    cache_plugin=lambda provider: ExplicitCachePlugin(),
    plain_calls={"messages.create": PlainCallOpener("turnproof_adapters.anthropic.plain:MessagesCreate")},
    package="anthropic",
)
