"""How turnproof opens this adapter, by each of its ways. Importing it imports no SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnproof.provider import Binding, Capabilities, Conversation, Difference, Endpoint

from ..openai.models import model as chat_model
from ..openai.service import DIALECT as CHAT
from ..openai_responses.models import DIALECT as RESPONSES
from ..openai_responses.models import model as responses_model
from .copilot.models import model as copilot_model

if TYPE_CHECKING:
    from .copilot.legacy import CopilotChatLegacy, CopilotResponsesLegacy
    from .copilot.plain import CopilotCompletionsCreate, CopilotResponsesCreate
    from .copilot.stateless import CopilotChatStateless, CopilotResponsesStateless
    from .legacy import GitHubModelsLegacy
    from .plain import Complete
    from .stateless import GitHubModelsStateless


def github_capabilities(model: str) -> Capabilities:
    """What is claimed for a model at GitHub Models. OpenAI's own do not show their thinking in this API."""
    facts = chat_model(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        structured=facts.structured,
        images=facts.images,
        result_images=facts.images,
        mid_system=True,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="implicit" if facts.known else "none",
    )


def copilot_capabilities(model: str) -> Capabilities:
    """What is claimed for a chat model of Copilot. OpenAI's own do not show their thinking in this API."""
    facts = copilot_model(model)
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=not facts.known,
        structured=facts.structured,
        images=facts.images,
        result_images=facts.images,
        mid_system=True,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="implicit" if facts.known else "none",
    )


def responses_capabilities(model: str) -> Capabilities:
    """What is claimed for a codex model of Copilot."""
    reasons = responses_model(model).reasons
    return Capabilities(
        streaming=True,
        tools=True,
        parallel_tools=True,
        thinking=reasons,
        opaque_thinking=reasons,
        structured=True,
        images=True,
        documents=True,
        result_images=True,
        service_tools=True,
        mid_system=True,
        cancel=True,
        cancel_batch=True,
        typed_errors=True,
        lifecycle=True,
        cache="implicit",
    )


def open_github_stateless(endpoint: Endpoint) -> GitHubModelsStateless:
    """A ready provider of GitHub Models, on the stateless path."""
    from .._open_provider import opened
    from .stateless import GitHubModelsStateless

    return opened(GitHubModelsStateless(), endpoint)


def open_github_legacy(endpoint: Endpoint) -> GitHubModelsLegacy:
    """The same on the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .legacy import GitHubModelsLegacy

    return opened_with_session(GitHubModelsLegacy(), endpoint)


def open_complete(endpoint: Endpoint, conversation: Conversation) -> Complete:
    """`ChatCompletionsClient.complete`, to measure the paths against."""
    from .plain import Complete

    return Complete(endpoint, conversation)


def open_copilot_stateless(endpoint: Endpoint) -> CopilotChatStateless:
    """A ready provider of Copilot's chat models, on the stateless path."""
    from .._open_provider import opened
    from .copilot.stateless import CopilotChatStateless

    return opened(CopilotChatStateless(), endpoint)


def open_copilot_legacy(endpoint: Endpoint) -> CopilotChatLegacy:
    """The same on the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .copilot.legacy import CopilotChatLegacy

    return opened_with_session(CopilotChatLegacy(), endpoint)


def open_responses_stateless(endpoint: Endpoint) -> CopilotResponsesStateless:
    """A ready provider of Copilot's codex models, on the stateless path."""
    from .._open_provider import opened
    from .copilot.stateless import CopilotResponsesStateless

    return opened(CopilotResponsesStateless(), endpoint)


def open_responses_legacy(endpoint: Endpoint) -> CopilotResponsesLegacy:
    """The same on the legacy path, with an empty conversation."""
    from .._open_provider import opened_with_session
    from .copilot.legacy import CopilotResponsesLegacy

    return opened_with_session(CopilotResponsesLegacy(), endpoint)


def open_copilot_completions_create(endpoint: Endpoint, conversation: Conversation) -> CopilotCompletionsCreate:
    """`chat.completions.create` of OpenAI's SDK, to measure the paths at Copilot's chat models against."""
    from .copilot.plain import CopilotCompletionsCreate

    return CopilotCompletionsCreate(endpoint, conversation)


def open_copilot_responses_create(endpoint: Endpoint, conversation: Conversation) -> CopilotResponsesCreate:
    """`responses.create` of OpenAI's SDK, to measure the paths at Copilot's codex models against."""
    from .copilot.plain import CopilotResponsesCreate

    return CopilotResponsesCreate(endpoint, conversation)


_DECODERS = Difference(
    "error-words",
    "A chunk that is no JSON is told in the words of its decoder: the SDK's on the legacy path, our own on the "
    "stateless one. Class, status and whether to try again are the same.",
)

GITHUB = Binding(
    name="github_models",
    dialect=f"{CHAT}@github",
    model="openai/gpt-4.1",
    capabilities=github_capabilities,
    open_stateless=open_github_stateless,
    open_legacy=open_github_legacy,
    declared=[_DECODERS],
    plain_calls={"complete": open_complete},
    package="azure-ai-inference",
)

COPILOT = Binding(
    name="copilot",
    dialect=f"{CHAT}@copilot",
    model="gpt-4.1",
    capabilities=copilot_capabilities,
    open_stateless=open_copilot_stateless,
    open_legacy=open_copilot_legacy,
    declared=[_DECODERS],
    plain_calls={"chat.completions.create": open_copilot_completions_create},
    package="openai",
)

COPILOT_RESPONSES = Binding(
    name="copilot_responses",
    dialect=RESPONSES,
    model="gpt-5.3-codex",
    capabilities=responses_capabilities,
    open_stateless=open_responses_stateless,
    open_legacy=open_responses_legacy,
    declared=[_DECODERS],
    plain_calls={"responses.create": open_copilot_responses_create},
    package="openai",
)
