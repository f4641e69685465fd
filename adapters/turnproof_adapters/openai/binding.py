"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Conversation, Difference, Endpoint

from .models import model as facts_of
from .service import DIALECT

if TYPE_CHECKING:
    from .legacy import OpenAILegacy
    from .plain import ChatCompletionsCreate
    from .stateless import OpenAIStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model.

    OpenAI's own models think unseen: of that this API shows the cost alone. Other services show theirs.
    """
    facts = facts_of(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=not facts.known,
        structured=facts.structured,
        images=facts.images,
        documents=facts.documents,
        result_images=facts.images,
        mid_system=True,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="implicit",
    )


def open_stateless(endpoint: Endpoint) -> OpenAIStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import OpenAIStateless

    return opened(OpenAIStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> OpenAILegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import OpenAILegacy

    return opened_with_session(OpenAILegacy(), endpoint)


def open_chat_completions_create(endpoint: Endpoint, conversation: Conversation) -> ChatCompletionsCreate:
    """`chat.completions.create`, to measure the paths against."""
    from .plain import ChatCompletionsCreate

    return ChatCompletionsCreate(endpoint, conversation)


BINDING = Binding(
    name="openai",
    dialect=DIALECT,
    model="gpt-5-mini",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
    declared=[
        Difference(
            "error-words",
            "A chunk that is no JSON is told in the words of its decoder: the SDK's on the legacy path, our own on the "
            "stateless one. Class, status and whether to try again are the same.",
        )
    ],
    plain_calls={"chat.completions.create": open_chat_completions_create},
    package="openai",
)
