"""What the Gemini API refuses, in the order in which it would say so.

The order: who is asking (what cannot be read is refused by `parse`); the model; contents, roles and tools; settings; a
cache that is named; the files; the order of turns; signatures; size. Rules that are only inferred come last and are not
enforced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...base import Call, HttpRequest, Refusal, World
from ...base_dialect import enforced_first, run_checks
from .. import auth
from ..surfaces import GeminiCall
from . import caching, contents, signatures, size, turns
from .context import Context

_Check = Callable[[Context], Iterator[Refusal]]


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one the API would name first in front; inferred ones last."""
    found = list(auth.refusals(request, world))
    context = Context.from_request(request, GeminiCall.from_call(call), world)
    found += context.call.doubts
    found += run_checks(_CHECKS.get((call.operation, call.action), ()), context)
    return enforced_first(found)


_CHECKS: dict[tuple[str, str], tuple[_Check, ...]] = {
    ("generate", ""): (
        contents.model,
        contents.check,
        contents.settings,
        caching.check_named_cache,
        size.files,
        turns.check,
        signatures.check,
        size.check,
    ),
    ("count_tokens", ""): (contents.model, contents.check, caching.check_named_cache),
    ("get_model", ""): (contents.model,),
    ("cache", "create"): (contents.model, contents.check, size.files, caching.size, size.check),
    ("cache", "get"): (caching.check_operation,),
    ("cache", "update"): (caching.check_operation,),
    ("cache", "delete"): (caching.check_operation,),
}
