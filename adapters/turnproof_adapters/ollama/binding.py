"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Conversation, Endpoint

from .models import DIALECT, NAME
from .models import model as facts_of

if TYPE_CHECKING:
    from .legacy import OllamaLegacy
    from .plain import OllamaMessagesCreate
    from .stateless import OllamaStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Not claimed is what the server passes over: cache marks, response schemas and
    documents; and token counts, which it does not give."""
    facts = facts_of(model)
    return Capabilities(
        streaming=True,
        tools=facts.calls,
        parallel_tools=facts.calls,
        thinking=facts.thinks,
        images=facts.sees,
        result_images=facts.sees,
        mid_system=facts.mid_system,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="none",
    )


def open_stateless(endpoint: Endpoint) -> OllamaStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import OllamaStateless

    return opened(OllamaStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> OllamaLegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import OllamaLegacy

    return opened_with_session(OllamaLegacy(), endpoint)


def open_messages_create(endpoint: Endpoint, conversation: Conversation) -> OllamaMessagesCreate:
    """`messages.create` of Anthropic's SDK, to measure the paths against."""
    from .plain import OllamaMessagesCreate

    return OllamaMessagesCreate(endpoint, conversation)


BINDING = Binding(
    name=NAME,
    dialect=DIALECT,
    model="qwen3:8b",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
    plain_calls={"messages.create": open_messages_create},
    package="anthropic",
)
