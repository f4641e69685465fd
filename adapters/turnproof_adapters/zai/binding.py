"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities

from .._open_provider import COMMON_CAPABILITIES, LegacyOpener, PlainCallOpener, StatelessOpener
from .models import DIALECT, NAME
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Not claimed is what nothing is known of at this endpoint: documents, response
    schemas, instructions in mid-conversation, encrypted thinking, and the service's own tools."""
    facts = facts_of(model)
    return replace(
        COMMON_CAPABILITIES, thinking=facts.thinks, images=facts.sees, result_images=facts.sees, cache="implicit"
    )


BINDING = Binding(
    name=NAME,
    dialect=DIALECT,
    model="glm-4.7",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.zai.stateless:ZaiStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.zai.legacy:ZaiLegacy"),
    plain_calls={"messages.create": PlainCallOpener("turnproof_adapters.zai.plain:ZaiMessagesCreate")},
    package="anthropic",
)
