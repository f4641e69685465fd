"""What the Interactions API refuses, in the order in which it would say so.

The order: who asks; the model; the shape of the body; what the service holds; calls and results; signatures; size.
Rules that are only documented or inferred come last and are not enforced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...base import Call, HttpRequest, Refusal, World
from ...base_dialect import enforced_first, run_checks
from ...gemini import DIALECT as GEMINI
from .. import auth
from ..addresses import InteractionsCall, is_of_gemini
from . import pairing, shape, signatures, size, stored
from .context import Context


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one the API would name first in front; inferred ones last."""
    if is_of_gemini(request):
        return GEMINI.validate(request, call, world)
    return enforced_first(_refusals(request, InteractionsCall.from_call(call), world))


def _refusals(request: HttpRequest, call: InteractionsCall, world: World) -> Iterator[Refusal]:
    yield from auth.refusals(request, world)
    if call.operation == "stored":
        yield from stored.check_operation(call, world)
    else:
        yield from run_checks(_CHECKS, Context.from_request(request, call, world))


_CHECKS: tuple[Callable[[Context], Iterator[Refusal]], ...] = (
    size.model,
    shape.check,
    stored.check,
    pairing.check,
    signatures.check,
    size.check,
)
