"""The model itself, and whether the prompt fits into its window."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import fields, rules
from ..counting import count
from .context import Context, refuse

_LONG_CONTEXT = 1_000_000


def unknown_model(name: str) -> Refusal:
    """404, also on count_tokens."""
    return Refusal(rules.UNKNOWN_MODEL, 404, "not_found_error", f"model: {name}", "$.model")


def model(context: Context) -> Iterator[Refusal]:
    """The model must be one the service has."""
    if context.facts is None:
        yield unknown_model(context.body["model"])


def check(context: Context) -> Iterator[Refusal]:
    """Window rules: the prompt, and for models before 4.5 the prompt together with `max_tokens`."""
    if context.facts is None or context.counting:
        return
    window = context.facts.context_tokens
    if fields.LONG_CONTEXT_BETA in context.betas and context.has("long-context-beta"):
        window = _LONG_CONTEXT
    # Media aside, a token is at least a byte: most requests need not be counted at all.
    room = window - (context.body["max_tokens"] if context.has("strict-window") else 0)
    if len(context.request.body) < room and b'"source"' not in context.request.body:
        return
    prompt = count(context.call)
    limit = context.body.get("max_tokens")
    if prompt > window:
        yield refuse(rules.PROMPT_TOO_LONG, f"prompt is too long: {prompt} tokens > {window} maximum", "messages")
    elif context.has("strict-window") and isinstance(limit, int) and prompt + limit > window:
        message = (
            f"input length and `max_tokens` exceed context limit: {prompt} + {limit} > {window}, decrease input "
            "length or `max_tokens` and try again"
        )
        yield refuse(rules.WINDOW_OVERFLOW, message, "max_tokens")
