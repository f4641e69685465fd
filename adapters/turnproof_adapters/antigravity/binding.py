"""How turnproof opens this adapter. Importing it imports no HTTP client."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities, Difference

from .._open_provider import ALL_CONTENT_CAPABILITIES, COMMON_CAPABILITIES, AdapterClasses
from .models import DIALECT
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Of files and of what a service does by itself only Gemini is known to take any."""
    facts = facts_of(model)
    claims = replace(ALL_CONTENT_CAPABILITIES, cache="implicit") if facts.is_gemini else COMMON_CAPABILITIES
    return replace(claims, thinking=facts.thinks, structured=facts.structured, count_tokens=True)


CLASSES = AdapterClasses(__package__, "AntigravityStateless", "AntigravityLegacy")
FOREIGN_HISTORY = Difference(
    "foreign-history",
    "The contents that the legacy path keeps have no place for what another service signed, nor for an instruction "
    "between turns.",
)
BINDING = CLASSES.binding(
    "antigravity", DIALECT, "gemini-3-flash", capabilities, declared=[FOREIGN_HISTORY], package="httpx2"
)
