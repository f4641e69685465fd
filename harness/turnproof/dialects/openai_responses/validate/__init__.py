"""What the Responses API refuses, in the order in which it would say so.

The order: who asks; the model; the shape of the body, field by field; settings and tools; what the service holds; the
pairing of calls and outputs; reasoning; size. Rules that are only inferred come last and are not enforced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...base import Call, HttpRequest, Refusal, World
from ...base_dialect import enforced_first, run_checks
from .. import auth
from ..errors import COPILOT_BAD_REQUEST
from ..surfaces import ResponsesCall, Surface
from . import on_socket, pairing, reasoning, settings, shape, size, store_operation, stored, values
from .context import Context


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one the API would name first in front; inferred ones last."""
    own_call = ResponsesCall.from_call(call)
    return enforced_first(_surface_refusal(each, own_call.surface) for each in _refusals(request, own_call, world))


def _refusals(request: HttpRequest, call: ResponsesCall, world: World) -> Iterator[Refusal]:
    yield from auth.refusals(request, world)
    if call.operation == "get_model" and call.model not in world.models:
        yield size.missing_model(str(call.model))
    elif call.operation == "stored" and call.action != "compact" and not call.warms_up:
        yield from store_operation.check(call, world)
    elif call.operation in ("generate", "count_tokens", "stored"):
        yield from run_checks(_CHECKS, Context.from_request(request, call, world))


def _surface_refusal(refusal: Refusal, surface: Surface) -> Refusal:
    """The refusal in the words of the surface: Copilot has one code for all that is wrong with a body."""
    if surface is Surface.COPILOT and refusal.status in (400, 404) and refusal.kind != "bad_request":
        return replace(refusal, kind=COPILOT_BAD_REQUEST, status=400)
    return refusal


_CHECKS: tuple[Callable[[Context], Iterator[Refusal]], ...] = (
    on_socket.check,
    size.model,
    shape.check,
    values.check,
    settings.check,
    stored.check,
    pairing.check,
    reasoning.check,
    size.check,
)
