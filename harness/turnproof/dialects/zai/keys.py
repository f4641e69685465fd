"""The key: `x-api-key` or a bearer, both taken alike. No other header is known to be looked at."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from . import rules


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the key, if anything."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    key = request.headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
    if not key:
        message = "Authentication parameter not received in Header, unable to authenticate"
        yield Refusal(rules.MISSING_KEY, 401, "1001", message, "authorization")
    elif not world.any_key and key not in world.keys:
        yield Refusal(rules.BAD_KEY, 401, "401", "token expired or incorrect", "authorization")
