"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from turnproof.provider import Capabilities, Difference

from .._open_provider import ALL_CONTENT_CAPABILITIES, DECODER_WORDS, AdapterClasses
from .models import DIALECT
from .models import model as facts_of

if TYPE_CHECKING:
    from turnproof.cache import ManagedCachePlugin

    from .managed import CachingGoogleProvider


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model."""
    facts = facts_of(model)
    return replace(
        ALL_CONTENT_CAPABILITIES,
        thinking=facts.thinks,
        structured=facts.structured,
        count_tokens=True,
        cache="managed",
    )


def cache_plugin(provider: CachingGoogleProvider) -> ManagedCachePlugin:
    """A plugin that has this provider's service keep system text and tools, if its model stores so little."""
    from turnproof.cache import ManagedCachePlugin

    return ManagedCachePlugin(provider, minimum_tokens=facts_of(provider.model_name).cache_minimum_tokens)


CLASSES = AdapterClasses(
    __package__,
    "GoogleStateless",
    "GoogleLegacy",
    plain_calls={"generate_content": "GenerateContent", "chat.send_message": "ChatSendMessage"},
)
DIFFERENCES = [
    DECODER_WORDS,
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
    Difference("base64-alphabet", "The SDK writes bytes in the alphabet for addresses, which the API takes as well."),
    Difference("empty-fields", "The SDK sends `generationConfig` even where nothing is configured."),
    Difference(
        "foreign-history",
        "The SDK's types, which the Chat keeps, have no place for what another service signed, nor for an "
        "instruction between turns.",
    ),
]
BINDING = CLASSES.binding(
    "google_genai",
    DIALECT,
    "gemini-3-flash-preview",
    capabilities,
    declared=DIFFERENCES,
    cache_plugin=cache_plugin,
    package="google-genai",
)
