"""How turnproof opens this adapter. Importing it imports no HTTP client."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities, Difference

from .._open_provider import ALL_CONTENT_CAPABILITIES, COMMON_CAPABILITIES, LegacyOpener, StatelessOpener
from .models import DIALECT
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Of files and of what a service does by itself only Gemini is known to take any."""
    facts = facts_of(model)
    claims = replace(ALL_CONTENT_CAPABILITIES, cache="implicit") if facts.is_gemini else COMMON_CAPABILITIES
    return replace(claims, thinking=facts.thinks, structured=facts.structured, count_tokens=True)


BINDING = Binding(
    name="antigravity",
    dialect=DIALECT,
    model="gemini-3-flash",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.antigravity.stateless:AntigravityStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.antigravity.legacy:AntigravityLegacy"),
    declared=[
        Difference(
            "foreign-history",
            "The contents that the legacy path keeps have no place for what another service signed, nor for an "
            "instruction between turns.",
        ),
    ],
    package="httpx2",
)
