"""What the Messages API refuses, in the order in which it would say so.

The order: key, version and betas; the shape of the body, field by field; the model; settings; breakpoints; the
conversation; thinking; size. Rules that are only inferred come last and are not enforced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...base import Call, HttpRequest, Refusal, World
from ...base_dialect import enforced_first, run_checks
from .. import headers
from . import caching, pairing, settings, shape, size, thinking, turns, values
from .context import Context


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one the API would name first in front; inferred ones last."""
    return enforced_first(_refusals(request, call, world))


def _refusals(request: HttpRequest, call: Call, world: World) -> Iterator[Refusal]:
    yield from headers.refusals(request, world)
    if call.operation == "get_model" and call.model not in world.models:
        yield size.unknown_model(str(call.model))
    elif call.operation in ("generate", "count_tokens"):
        yield from run_checks(_CHECKS, Context.from_request(request, call, world))


_CHECKS: tuple[Callable[[Context], Iterator[Refusal]], ...] = (
    shape.check,
    values.check,
    size.model,
    settings.check,
    caching.check,
    turns.check,
    pairing.check,
    thinking.check,
    size.check,
)
