"""The model itself, and whether the prompt fits into its window."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...openai_common import NO_DEPLOYMENT, NO_DEPLOYMENT_MESSAGE
from .. import rules
from ..counting import count
from ..surfaces import Surface
from .context import Context, refuse

_TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again."


def missing_model(name: str) -> Refusal:
    """404, where a model is looked up."""
    message = f"The model '{name}' does not exist"
    return Refusal(rules.UNKNOWN_MODEL, 404, "model_not_found", message, "$.model")


def model(context: Context) -> Iterator[Refusal]:
    """The model must be one the service has; this API says so with 400, and Azure of a name that is no deployment's."""
    if context.facts is None and context.call.model is not None and context.call.surface is Surface.AZURE:
        yield Refusal(rules.AZURE_DEPLOYMENT, 404, NO_DEPLOYMENT, NO_DEPLOYMENT_MESSAGE, "$.model")
    elif context.facts is None and context.call.model is not None:
        message = f"The requested model '{context.call.model}' does not exist."
        yield refuse(rules.UNKNOWN_MODEL, message, "model", "model_not_found")


def check(context: Context) -> Iterator[Refusal]:
    """The prompt must fit into the window, unless the service may leave out what is oldest."""
    if context.facts is None or context.counting or context.body.get("truncation") == "auto":
        return
    window = context.facts.context_tokens
    # Media aside, a token is at least a byte: most requests need not be counted at all.
    if len(context.request.body) < window and not context.carried and b'"input_' not in context.request.body:
        return
    if count(context.call) > window:
        yield refuse(rules.PROMPT_TOO_LONG, _TOO_LONG, "input", "context_length_exceeded")
