"""How turnproof opens this adapter, by each of its ways. Importing it imports no SDK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from turnproof.provider import Binding, Capabilities, Endpoint

from .._open_provider import DECODER_WORDS, LegacyOpener, PlainCallOpener, StatelessOpener
from ..openai.binding import claims_for
from ..openai.models import Model as ChatModel
from ..openai.models import model as chat_model
from ..openai.service import DIALECT as CHAT
from ..openai_responses.binding import capabilities as responses_capabilities
from ..openai_responses.models import DIALECT as RESPONSES
from .copilot.models import model as copilot_model


def github_capabilities(model: str) -> Capabilities:
    """What is claimed for a model at GitHub Models, which shows nobody's thinking."""
    return replace(_chat_capabilities(chat_model(model)), thinking=False)


def copilot_capabilities(model: str) -> Capabilities:
    """What is claimed for a chat model of Copilot."""
    return _chat_capabilities(copilot_model(model))


def _chat_capabilities(facts: ChatModel) -> Capabilities:
    """Those of OpenAI's API, less documents; and only OpenAI's own models are known to keep a cache here."""
    return replace(claims_for(facts), documents=False, cache="implicit" if facts.known else "none")


@dataclass(frozen=True)
class _AtTheHost:
    """Opens where Copilot has this API: at its host itself, where OpenAI has a version in the path."""

    opener: Callable[..., Any]

    def __call__(self, endpoint: Endpoint, *more: Any) -> Any:
        return self.opener(replace(endpoint, base_url=endpoint.base_url.removesuffix("/v1")), *more)


GITHUB = Binding(
    name="github_models",
    dialect=f"{CHAT}@github",
    model="openai/gpt-4.1",
    capabilities=github_capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.github_models.stateless:GitHubModelsStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.github_models.legacy:GitHubModelsLegacy"),
    declared=[DECODER_WORDS],
    plain_calls={"complete": PlainCallOpener("turnproof_adapters.github_models.plain:Complete")},
    package="azure-ai-inference",
)

COPILOT = Binding(
    name="copilot",
    dialect=f"{CHAT}@copilot",
    model="gpt-4.1",
    capabilities=copilot_capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.github_models.copilot.stateless:CopilotChatStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.github_models.copilot.legacy:CopilotChatLegacy"),
    declared=[DECODER_WORDS],
    plain_calls={
        "chat.completions.create": PlainCallOpener(
            "turnproof_adapters.github_models.copilot.plain:CopilotCompletionsCreate"
        )
    },
    package="openai",
)

COPILOT_RESPONSES = Binding(
    name="copilot_responses",
    dialect=RESPONSES,
    model="gpt-5.3-codex",
    capabilities=responses_capabilities,
    open_stateless=_AtTheHost(
        StatelessOpener("turnproof_adapters.github_models.copilot.stateless:CopilotResponsesStateless")
    ),
    open_legacy=_AtTheHost(LegacyOpener("turnproof_adapters.github_models.copilot.legacy:CopilotResponsesLegacy")),
    declared=[DECODER_WORDS],
    plain_calls={
        "responses.create": _AtTheHost(
            PlainCallOpener("turnproof_adapters.github_models.copilot.plain:CopilotResponsesCreate")
        )
    },
    package="openai",
)
