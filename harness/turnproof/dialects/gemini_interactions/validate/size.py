"""The model itself, and whether the prompt fits into its window."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..counting import count
from .context import Context, refuse


def model(context: Context) -> Iterator[Refusal]:
    """The model must be one that the service has."""
    name = context.call.model
    if context.facts is None and name is not None:
        message = (
            f"models/{name} is not found for API version v1beta, or is not supported for interactions. Call ListModels "
            "to see the list of available models and their supported methods."
        )
        yield Refusal(rules.UNKNOWN_MODEL, 404, "not_found", message, "$.model")


def check(context: Context) -> Iterator[Refusal]:
    """The prompt must fit into the window."""
    if context.facts is None:
        return
    window = context.facts.context_tokens
    # Media aside, a token is at least a byte: most requests need not be counted at all.
    if len(context.request.body) < window and not context.carried and b'"mime_type"' not in context.request.body:
        return
    tokens = count(context.call)
    if tokens > window:
        message = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        yield refuse(rules.TOO_MANY_TOKENS, message, "input")
