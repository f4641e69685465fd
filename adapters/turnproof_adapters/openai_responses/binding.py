"""How turnproof opens this adapter at OpenAI. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities

from .._open_provider import (
    ALL_CONTENT_CAPABILITIES,
    DECODER_WORDS,
    KEPT_BY_THE_CONNECTION,
    KEPT_BY_THE_SERVICE,
    LegacyOpener,
    PlainCallOpener,
    StatelessOpener,
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


BINDING = Binding(
    name="openai_responses",
    dialect=DIALECT,
    model="gpt-5.5",
    capabilities=lambda model: replace(capabilities(model), chain=True),
    open_stateless=StatelessOpener("turnproof_adapters.openai_responses.at_openai.stateless:OpenAIResponsesStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.openai_responses.at_openai.legacy:OpenAIResponsesChain"),
    declared=[DECODER_WORDS, KEPT_BY_THE_SERVICE],
    plain_calls={
        "responses.create": PlainCallOpener("turnproof_adapters.openai_responses.at_openai.plain:ResponsesCreate")
    },
    package="openai",
)

CONVERSATION = replace(
    BINDING,
    name="openai_responses_conversation",
    capabilities=lambda model: replace(capabilities(model), chain=True, chain_expiry=False),
    open_legacy=LegacyOpener(
        "turnproof_adapters.openai_responses.at_openai.conversation_legacy:OpenAIResponsesConversation"
    ),
    plain_calls={},
)
"""The same with a conversation object: the legacy path names one, which collects what is said by itself."""

WEBSOCKET = replace(
    BINDING,
    name="openai_responses_websocket",
    capabilities=lambda model: replace(capabilities(model), chain=True, websocket=True),
    open_stateless=StatelessOpener(
        "turnproof_adapters.openai_responses.at_openai.socket_stateless:OpenAIResponsesSocketStateless"
    ),
    open_legacy=LegacyOpener("turnproof_adapters.openai_responses.at_openai.socket_legacy:OpenAIResponsesSocketChain"),
    declared=[DECODER_WORDS, KEPT_BY_THE_CONNECTION],
    plain_calls={},
)
"""The same over WebSockets: the stateless path sends everything, and the chain lives in the memory of the socket."""
