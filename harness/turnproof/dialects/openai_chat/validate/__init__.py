"""What each surface refuses, in the order in which it would say so.

The order: who is asking; the model; the arguments; settings; the messages; the pairing of calls; images; size. Rules
that are only inferred come last and are not enforced. What Azure does not refuse itself it hands on to the model's
maker, so there the maker's rules hold, too; what GitHub Models, Copilot, Z.ai and Ollama check is known in part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...base import HttpRequest, Refusal, World
from ...base_dialect import enforced_first, run_checks
from .. import auth
from ..surfaces import ChatCall, Surface
from . import arguments, members, messages, pairing, settings, size, values
from .context import Context, facts_of

_Check = Callable[[Context], Iterator[Refusal]]


def validate(request: HttpRequest, call: ChatCall, world: World) -> list[Refusal]:
    """Every refusal, the one the surface would name first in front; inferred ones last."""
    found = list(auth.refusals(request, call.surface, world))
    if call.operation == "get_model" and facts_of(call, world) is None:
        found.append(arguments.unknown_model(call))
    elif call.operation == "generate":
        context = Context.from_request(request, call, world)
        found += run_checks(_CHECKS[call.surface], context)
    return enforced_first(found)


_MAKER: tuple[_Check, ...] = (
    arguments.model,
    arguments.arguments,
    values.check,
    members.check,
    settings.tools,
    settings.sampling,
    settings.limits,
    settings.streaming,
    settings.form,
    messages.check,
    pairing.check,
    messages.images,
    size.check,
)

_CHECKS: dict[Surface, tuple[_Check, ...]] = {
    Surface.OPENAI: _MAKER,
    Surface.AZURE: _MAKER,
    Surface.GITHUB: (arguments.model, pairing.check, size.check),
    Surface.COPILOT: (arguments.model, settings.number_of_tools, settings.limits, pairing.check, size.check),
    Surface.ZAI: (arguments.model, messages.check_zai, size.check),
    Surface.OLLAMA: (messages.check_ollama, arguments.model, size.check),
}
