"""How turnproof opens this adapter. Importing it imports no HTTP client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Difference, Endpoint

from .models import DIALECT
from .models import model as facts_of

if TYPE_CHECKING:
    from .legacy import AntigravityLegacy
    from .stateless import AntigravityStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Of files and of what a service does by itself only Gemini is known to take any."""
    facts = facts_of(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=facts.thinks,
        structured=facts.answers_in_json_with_tools,
        images=facts.is_gemini,
        documents=facts.is_gemini,
        result_images=facts.is_gemini,
        service_tools=facts.is_gemini,
        cancel=True,
        cancel_batch=True,
        count_tokens=True,
        typed_errors=True,
        lifecycle=True,
        cache="implicit" if facts.is_gemini else "none",
    )


def open_stateless(endpoint: Endpoint) -> AntigravityStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import AntigravityStateless

    return opened(AntigravityStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> AntigravityLegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import AntigravityLegacy

    return opened_with_session(AntigravityLegacy(), endpoint)


BINDING = Binding(
    name="antigravity",
    dialect=DIALECT,
    model="gemini-3-flash",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
    declared=[
        Difference(
            "foreign-history",
            "The contents that the legacy path keeps have no place for what another service signed, nor for an "
            "instruction between turns.",
        ),
    ],
    package="httpx2",
)
