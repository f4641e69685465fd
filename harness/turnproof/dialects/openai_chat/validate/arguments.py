"""The model, and the arguments that the API knows."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...field_names import is_listed, logged_if_unlisted
from ...openai_common import NO_DEPLOYMENT, NO_DEPLOYMENT_MESSAGE
from .. import rules
from ..errors import ChatRefusal
from ..models import THINKS, WITHDRAWN
from ..surfaces import ChatCall, Surface
from .context import Context

_ARGUMENT_NAMES = """
    audio data_sources frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
    stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options
"""
_KNOWN_ARGUMENTS = frozenset(_ARGUMENT_NAMES.split())
"""The arguments as of November 2026 (`CompletionCreateParams` of openai 3.54); `data_sources` is Azure's."""

_DEPRECATIONS = "https://platform.openai.com/docs/deprecations"


def model(context: Context) -> Iterator[Refusal]:
    """The model must be one that the surface has."""
    name = context.call.model or ""
    if context.facts is None:
        yield unknown_model(context.call)
    elif context.has(WITHDRAWN) and context.surface is Surface.OPENAI:
        message = f"The model `{name}` has been deprecated, learn more here: {_DEPRECATIONS}"
        yield ChatRefusal(rules.WITHDRAWN_MODEL, 404, "model_not_found", message)


def unknown_model(call: ChatCall) -> Refusal:
    """What a surface says to a name that it does not know."""
    surface, name = call.surface, call.model
    match surface:
        case Surface.AZURE:
            return ChatRefusal(rules.AZURE_DEPLOYMENT, 404, NO_DEPLOYMENT, NO_DEPLOYMENT_MESSAGE, surface=surface)
        case Surface.GITHUB:
            return ChatRefusal(rules.GITHUB_MODEL, 404, "unknown_model", f"Unknown model: {name}", surface=surface)
        case Surface.COPILOT:
            message = "The requested model is not supported."
            return ChatRefusal(rules.COPILOT_MODEL, 400, "model_not_supported", message, surface=surface)
        case Surface.ZAI:
            message = "Unknown Model, please check the model code."
            return ChatRefusal(rules.ZAI_MODEL, 400, "1211", message, surface=surface)
        case Surface.OLLAMA:
            message = f"model '{name}' not found"
            return ChatRefusal(rules.OLLAMA_MODEL, 404, "not_found_error", message, surface=surface)
        case _:
            message = f"The model `{name}` does not exist or you do not have access to it."
            return ChatRefusal(rules.UNKNOWN_MODEL, 404, "model_not_found", message)


def arguments(context: Context) -> Iterator[Refusal]:
    """Arguments that the API does not have, or not for this model. One that is null was not given."""
    unknown = [name for name, value in context.body.items() if value is not None and name not in _KNOWN_ARGUMENTS]
    if context.facts is not None and not context.has(THINKS) and context.body.get("reasoning_effort") is not None:
        unknown.append("reasoning_effort")
    for listed in (True, False):
        names = sorted(name for name in unknown if is_listed(name) is listed)
        if names:
            plural = "s" if len(names) > 1 else ""
            message = f"Unrecognized request argument{plural} supplied: {', '.join(names)}"
            refusal = context.refuse(rules.UNKNOWN_ARGUMENT, "invalid_request_error", message)
            yield logged_if_unlisted(refusal, names[0])
