"""How turnproof opens this adapter. Importing it starts no program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Endpoint

from ..anthropic.models import model as facts_of

if TYPE_CHECKING:
    from .legacy import ClaudeCliLegacy
    from .stateless import ClaudeCliStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. The program sets its own cache marks, and reads no response schema here."""
    facts = facts_of(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=facts.thinks,
        opaque_thinking=facts.thinks,
        images=True,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="none",
    )


def open_stateless(endpoint: Endpoint) -> ClaudeCliStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import ClaudeCliStateless

    return opened(ClaudeCliStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> ClaudeCliLegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import ClaudeCliLegacy

    return opened_with_session(ClaudeCliLegacy(), endpoint)


BINDING = Binding(
    name="claude_cli",
    dialect="anthropic-messages@claude-cli",
    model="claude-haiku-4-5",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
)
