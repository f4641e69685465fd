"""What the Responses API refuses, in the order in which it would say so.

The order: who asks; the model; the shape of the body, field by field; settings and tools; what the service holds; the
pairing of calls and outputs; reasoning; size. Rules that are only inferred come last and are not enforced. Azure hands
on what the model's maker refuses; of the other surfaces it is known in part what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ...base import Call, HttpRequest, Refusal, Rule, World
from ...base_dialect import enforced_first, run_checks
from .. import auth, rules
from ..errors import COPILOT_BAD_REQUEST
from ..surfaces import ResponsesCall, Surface
from . import (
    caching,
    llamacpp,
    on_socket,
    openrouter,
    pairing,
    reasoning,
    settings,
    shape,
    size,
    store_operation,
    stored,
    values,
    xai,
)
from .context import Context


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one the API would name first in front; inferred ones last."""
    own_call = ResponsesCall.from_call(call)
    return enforced_first(_surface_refusal(each, own_call.surface) for each in _refusals(request, own_call, world))


def _refusals(request: HttpRequest, call: ResponsesCall, world: World) -> Iterator[Refusal]:
    yield from auth.refusals(request, call.surface, world)
    if call.operation == "get_model" and call.model not in world.models:
        yield size.missing_model(str(call.model))
    elif call.operation == "stored" and call.action != "compact" and not call.warms_up:
        yield from store_operation.check(call, world)
    elif call.operation in ("generate", "count_tokens", "stored"):
        yield from run_checks(_CHECKS[call.surface], Context.from_request(request, call, world))


def _surface_refusal(refusal: Refusal, surface: Surface) -> Refusal:
    """The refusal in the words of the surface: Copilot has one code for all that is wrong with a body."""
    if surface is Surface.COPILOT and refusal.status in (400, 404) and refusal.kind != "bad_request":
        return replace(refusal, kind=COPILOT_BAD_REQUEST, status=400)
    if surface in _SHOWN and refusal.rule not in _SHOWN[surface]:
        return replace(refusal, unseen=True)
    return refusal


_SHOWN: Mapping[Surface, tuple[Rule, ...]] = {
    Surface.XAI: (rules.XAI_KEY, rules.XAI_INSTRUCTIONS),
    Surface.OPENROUTER: (rules.OPENROUTER_KEY, rules.OPENROUTER_STATE),
    Surface.LLAMACPP: (
        rules.LLAMACPP_PREVIOUS, rules.LLAMACPP_INPUT, rules.LLAMACPP_ITEM, rules.LLAMACPP_REASONING,
        rules.LLAMACPP_FILE, rules.LLAMACPP_WINDOW,
    ),
}  # fmt: skip
"""What each of these was seen to refuse. Whatever else OpenAI refuses is logged: nobody has shown what they do."""

_Check = Callable[[Context], Iterator[Refusal]]

_MAKER: tuple[_Check, ...] = (
    on_socket.check,
    size.model,
    shape.check,
    values.check,
    settings.check,
    caching.check,
    stored.check,
    pairing.check,
    reasoning.check,
    size.check,
)

_CHECKS: Mapping[Surface, tuple[_Check, ...]] = {
    Surface.OPENAI: _MAKER,
    Surface.COPILOT: _MAKER,
    Surface.AZURE: _MAKER,
    Surface.XAI: (xai.check, *_MAKER),
    Surface.OPENROUTER: (openrouter.check, *_MAKER),
    Surface.LLAMACPP: (llamacpp.check,),
}
