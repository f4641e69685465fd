"""Who is asking: a key at the Gemini API, an access token at Vertex AI."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from . import rules
from .surfaces import Surface, surface_of

_UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
_EXPECTED = (
    "Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
    "https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_NO_KEYS = (
    "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials that "
    "assert a principal. See https://cloud.google.com/docs/authentication"
)


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing."""
    key = request.headers.get("x-goog-api-key") or request.query.get("key")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        if not world.any_key and token.strip() not in world.keys:
            message = f"Request had invalid authentication credentials. {_EXPECTED}"
            yield Refusal(rules.BAD_TOKEN, 401, "UNAUTHENTICATED", message, "authorization")
    elif surface_of(request) is Surface.VERTEX and not (key and _is_express(request)):
        if key:
            yield Refusal(rules.KEY_FOR_TOKEN, 401, "UNAUTHENTICATED", _NO_KEYS, "authorization")
        else:
            message = f"Request is missing required authentication credential. {_EXPECTED}"
            yield Refusal(rules.MISSING_TOKEN, 401, "UNAUTHENTICATED", message, "authorization")
    elif not key:
        yield Refusal(rules.MISSING_KEY, 403, "PERMISSION_DENIED", _UNREGISTERED, "x-goog-api-key")
    elif not world.any_key and key not in world.keys:
        message = "API key not valid. Please pass a valid API key."
        yield Refusal(rules.BAD_KEY, 400, "INVALID_ARGUMENT", message, "x-goog-api-key")


def _is_express(request: HttpRequest) -> bool:
    return "/projects/" not in request.path
