"""Who is asking: a key in the header or in the address, or an access token."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from . import rules

_UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)


def key_of(request: HttpRequest) -> str:
    """The key or access token that a request has; empty where it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    return request.headers.get("x-goog-api-key") or request.query.get("key") or bearer


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing."""
    key = key_of(request)
    if not key:
        yield Refusal(rules.MISSING_KEY, 403, "permission_denied", _UNREGISTERED, "x-goog-api-key")
    elif not world.any_key and key not in world.keys:
        message = "API key not valid. Please pass a valid API key."
        yield Refusal(rules.BAD_KEY, 400, "invalid_request", message, "x-goog-api-key")
