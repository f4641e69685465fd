"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.cache import ExplicitCachePlugin
from turnproof.provider import Binding, Capabilities, Conversation, Difference, Endpoint

from .models import DIALECT
from .models import model as facts_of

if TYPE_CHECKING:
    from .legacy import AnthropicLegacy
    from .plain import MessagesCreate
    from .stateless import AnthropicStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model."""
    facts = facts_of(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=facts.thinks,
        opaque_thinking=facts.thinks,
        structured=facts.structured,
        images=True,
        documents=facts.documents,
        result_images=True,
        service_tools=True,
        mid_system=facts.mid_system,
        cancel=True,
        cancel_batch=True,
        count_tokens=True,
        typed_errors=True,
        lifecycle=True,
        cache="explicit",
    )


def open_stateless(endpoint: Endpoint) -> AnthropicStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import AnthropicStateless

    return opened(AnthropicStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> AnthropicLegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import AnthropicLegacy

    return opened_with_session(AnthropicLegacy(), endpoint)


def open_messages_create(endpoint: Endpoint, conversation: Conversation) -> MessagesCreate:
    """`messages.create`, to measure the paths against."""
    from .plain import MessagesCreate

    return MessagesCreate(endpoint, conversation)


BINDING = Binding(
    name="anthropic",
    dialect=DIALECT,
    model="claude-sonnet-4-6",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
    declared=[
        Difference(
            "error-words",
            "A frame that is no JSON is told in the words of its decoder: the SDK's on the legacy path, our own on the "
            "stateless one. Class, status and whether to try again are the same.",
        )
    ],
    cache_plugin=lambda provider: ExplicitCachePlugin(),
    plain_calls={"messages.create": open_messages_create},
    package="anthropic",
)
