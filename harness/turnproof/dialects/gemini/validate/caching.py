"""Managed caches: alive, of the same model, and not contradicted by the request; large enough when they are made."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...catalogue import same_model
from .. import caches, rules
from ..counting import count
from ..models import MODELS
from .context import Context, refuse

_ALONE = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\n"
    "Proposed fix: move those values to CachedContent from GenerateContent request."
)


def cache_not_found() -> Refusal:
    """403 for a cache that is expired, deleted, foreign, or never was."""
    message = "CachedContent not found (or permission denied)"
    return Refusal(rules.CACHE_GONE, 403, "PERMISSION_DENIED", message, "$.cachedContent")


def check_named_cache(context: Context) -> Iterator[Refusal]:
    """Rules about a cache that a request for an answer names."""
    name = context.content.get("cachedContent")
    if not name:
        return
    if context.cache is None:
        yield cache_not_found()
    elif not same_model(MODELS, context.cache.model, context.call.model or ""):
        message = (
            f"Model used by GenerateContent request (models/{context.call.model}) and CachedContent "
            f"(models/{context.cache.model}) has to be the same."
        )
        yield refuse(rules.CACHE_OF_OTHER_MODEL, message, "cachedContent")
    if any(context.content.get(field) for field in ("systemInstruction", "tools", "toolConfig")):
        yield refuse(rules.CACHE_AND_SETTINGS, _ALONE, "cachedContent")


def check_operation(context: Context) -> Iterator[Refusal]:
    """Rules about operations on one cache."""
    call = context.call
    if call.action in ("get", "update", "delete") and caches.find_cache(context.world, call.resource) is None:
        yield cache_not_found()


def size(context: Context) -> Iterator[Refusal]:
    """A cache below the model's minimum is not made."""
    if context.facts is None:
        return
    tokens, minimum = count(context.call), context.facts.cache_minimum_tokens
    if tokens < minimum and context.vertex:
        message = f"The cached content is of {tokens} tokens. The minimum token count to start caching is {minimum}."
        yield refuse(rules.CACHE_TOO_SMALL, message, "contents")
    elif tokens < minimum:
        message = f"Cached content is too small. total_token_count={tokens}, min_total_token_count={minimum}"
        yield refuse(rules.CACHE_TOO_SMALL, message, "contents")
