"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Conversation, Endpoint

from .models import DIALECT, NAME
from .models import model as facts_of

if TYPE_CHECKING:
    from .legacy import ZaiLegacy
    from .plain import ZaiMessagesCreate
    from .stateless import ZaiStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Not claimed is what nothing is known of at this endpoint: documents, response
    schemas, instructions in mid-conversation, encrypted thinking, and the service's own tools."""
    facts = facts_of(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=facts.thinks,
        images=facts.sees,
        result_images=facts.sees,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="implicit",
    )


def open_stateless(endpoint: Endpoint) -> ZaiStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import ZaiStateless

    return opened(ZaiStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> ZaiLegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import ZaiLegacy

    return opened_with_session(ZaiLegacy(), endpoint)


def open_messages_create(endpoint: Endpoint, conversation: Conversation) -> ZaiMessagesCreate:
    """`messages.create` of Anthropic's SDK, to measure the paths against."""
    from .plain import ZaiMessagesCreate

    return ZaiMessagesCreate(endpoint, conversation)


BINDING = Binding(
    name=NAME,
    dialect=DIALECT,
    model="glm-4.7",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
    plain_calls={"messages.create": open_messages_create},
    package="anthropic",
)
