"""How turnproof opens this adapter at OpenAI. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .._open_provider import (
    ALL_CONTENT_CAPABILITIES,
    DECODER_WORDS,
    KEPT_BY_THE_CONNECTION,
    KEPT_BY_THE_SERVICE,
    AdapterClasses,
)
from .models import DIALECT
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model, whoever serves it."""
    thinks = facts_of(model).thinks
    return replace(
        ALL_CONTENT_CAPABILITIES,
        thinking=thinks,
        opaque_thinking=thinks,
        structured=True,
        mid_system=True,
        cache="implicit",
    )


PACKAGE = f"{__package__}.at_openai"
HTTP = AdapterClasses(
    PACKAGE, "OpenAIResponsesStateless", "OpenAIResponsesChain", plain_calls={"responses.create": "ResponsesCreate"}
)
BINDING = HTTP.binding(
    "openai_responses",
    DIALECT,
    "gpt-5.5",
    lambda model: replace(capabilities(model), chain=True, chain_deletion=True, background=True),
    declared=[DECODER_WORDS, KEPT_BY_THE_SERVICE],
    package="openai",
)

CONVERSATION = AdapterClasses(PACKAGE, HTTP.stateless, "conversation_legacy:OpenAIResponsesConversation").binding(
    "openai_responses_conversation",
    DIALECT,
    BINDING.model,
    lambda model: replace(BINDING.claims(model), chain_expiry=False),
    declared=BINDING.declared,
    package=BINDING.package,
)
"""The same with a conversation object: the legacy path names one, which collects what is said by itself."""

SOCKET = AdapterClasses(
    PACKAGE, "socket_stateless:OpenAIResponsesSocketStateless", "socket_legacy:OpenAIResponsesSocketChain"
)
WEBSOCKET = SOCKET.binding(
    "openai_responses_websocket",
    DIALECT,
    BINDING.model,
    lambda model: replace(BINDING.claims(model), websocket=True, chain_deletion=False, background=False),
    declared=[DECODER_WORDS, KEPT_BY_THE_CONNECTION],
    package=BINDING.package,
)
"""The same over WebSockets: the stateless path sends everything, and the chain lives in the memory of the socket."""
