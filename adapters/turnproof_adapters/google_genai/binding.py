"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Conversation, Difference, Endpoint

from .models import DIALECT
from .models import model as facts_of

if TYPE_CHECKING:
    from turnproof.cache import ManagedCachePlugin

    from .legacy import GoogleLegacy
    from .managed import CachingGoogleProvider
    from .plain import ChatSendMessage, GenerateContent
    from .stateless import GoogleStateless


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model."""
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=facts_of(model).thinks,
        structured=facts_of(model).answers_in_json_with_tools,
        images=True,
        documents=True,
        result_images=True,
        service_tools=True,
        cancel=True,
        cancel_batch=True,
        count_tokens=True,
        typed_errors=True,
        lifecycle=True,
        cache="managed",
    )


def open_stateless(endpoint: Endpoint) -> GoogleStateless:
    """A ready provider of the stateless path."""
    from .._open_provider import opened
    from .stateless import GoogleStateless

    return opened(GoogleStateless(), endpoint)


def open_legacy(endpoint: Endpoint) -> GoogleLegacy:
    """A ready provider of the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import GoogleLegacy

    return opened_with_session(GoogleLegacy(), endpoint)


def cache_plugin(provider: CachingGoogleProvider) -> ManagedCachePlugin:
    """A plugin that has this provider's service keep system text and tools, if its model stores so little."""
    from turnproof.cache import ManagedCachePlugin

    return ManagedCachePlugin(provider, minimum_tokens=facts_of(provider.model_name).cache_minimum_tokens)


def open_generate_content(endpoint: Endpoint, conversation: Conversation) -> GenerateContent:
    """`models.generate_content`, to measure the paths against."""
    from .plain import GenerateContent

    return GenerateContent(endpoint, conversation)


def open_chat_send_message(endpoint: Endpoint, conversation: Conversation) -> ChatSendMessage:
    """`Chat.send_message`, likewise."""
    from .plain import ChatSendMessage

    return ChatSendMessage(endpoint, conversation)


BINDING = Binding(
    name="google_genai",
    dialect=DIALECT,
    model="gemini-3-flash-preview",
    capabilities=capabilities,
    open_stateless=open_stateless,
    open_legacy=open_legacy,
    declared=[
        Difference(
            "contents-split-per-chunk",
            "The SDK's Chat keeps a streamed answer as one content for each chunk, and sends it back like that.",
        ),
        Difference("blank-text", "Chat keeps the empty text that the last chunk of a stream comes with."),
        Difference(
            "field-spelling",
            "The SDK writes some fields of its types in snake case, which the API takes as well; the stateless path "
            "writes all of them as they are documented.",
        ),
        Difference(
            "base64-alphabet", "The SDK writes bytes in the alphabet for addresses, which the API takes as well."
        ),
        Difference("empty-fields", "The SDK sends `generationConfig` even where nothing is configured."),
        Difference(
            "foreign-history",
            "The SDK's types, which the Chat keeps, have no place for what another service signed, nor for an "
            "instruction between turns.",
        ),
    ],
    cache_plugin=cache_plugin,
    plain_calls={"generate_content": open_generate_content, "chat.send_message": open_chat_send_message},
    package="google-genai",
)
