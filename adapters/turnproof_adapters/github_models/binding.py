"""How turnproof opens this adapter, by each of its ways. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities, Endpoint

from .._open_provider import AdapterClasses
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


def _at_the_host(endpoint: Endpoint) -> Endpoint:
    """Where Copilot has the Responses API: at its host itself, where OpenAI has a version in the path."""
    return replace(endpoint, base_url=endpoint.base_url.removesuffix("/v1"))


GITHUB_CLASSES = AdapterClasses(
    __package__, "GitHubModelsStateless", "GitHubModelsLegacy", plain_calls={"complete": "Complete"}
)
GITHUB = GITHUB_CLASSES.binding(
    "github_models", f"{CHAT}@github", "openai/gpt-4.1", github_capabilities, package="azure-ai-inference"
)

COPILOT_CLASSES = AdapterClasses(
    f"{__package__}.copilot",
    "CopilotChatStateless",
    "CopilotChatLegacy",
    plain_calls={"chat.completions.create": "CopilotCompletionsCreate"},
)
COPILOT = COPILOT_CLASSES.binding("copilot", f"{CHAT}@copilot", "gpt-4.1", copilot_capabilities, package="openai")

RESPONSES_CLASSES = AdapterClasses(
    f"{__package__}.copilot",
    "CopilotResponsesStateless",
    "CopilotResponsesLegacy",
    plain_calls={"responses.create": "CopilotResponsesCreate"},
    endpoint=_at_the_host,
)
COPILOT_RESPONSES = RESPONSES_CLASSES.binding(
    "copilot_responses", f"{RESPONSES}@copilot", "gpt-5.3-codex", responses_capabilities, package="openai"
)
