"""Who is asking: a key at OpenAI; a session token at Copilot, from an editor that names its version."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from ..openai_common import WRONG_KEY, is_live_copilot_token, was_issued
from . import rules
from .surfaces import EXCHANGE, Surface, surface_of


def key_of(request: HttpRequest) -> str:
    """The key of whoever owns what a request creates. A session token of Copilot does not tell whose it is."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    is_key = surface_of(request) is not Surface.COPILOT and scheme.lower() == "bearer"
    return token.strip() if is_key else ""


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if surface_of(request) is Surface.COPILOT:
        yield from _copilot(request, scheme.lower(), token.strip(), world)
    elif scheme.lower() != "bearer" or not token.strip():
        message = "Missing bearer or basic authentication in header"
        yield Refusal(rules.MISSING_KEY, 401, "invalid_request_error", message, "authorization")
    elif not world.any_key and token.strip() not in world.keys:
        yield Refusal(rules.BAD_KEY, 401, "invalid_api_key", WRONG_KEY, "authorization")


def _copilot(request: HttpRequest, scheme: str, token: str, world: World) -> Iterator[Refusal]:
    if request.path == EXCHANGE:
        if scheme not in ("token", "bearer") or not (world.any_key or token in world.keys):
            yield Refusal(rules.BAD_GITHUB_TOKEN, 401, "unauthorized", "Bad credentials", "authorization")
        return
    if not request.headers.get("editor-version"):
        message = "bad request: missing Editor-Version header for IDE auth"
        yield Refusal(rules.MISSING_EDITOR, 400, "bad_request", message, "editor-version")
    if scheme != "bearer" or not (world.any_key or is_live_copilot_token(token, world)):
        message = "unauthorized: token expired or invalid"
        outdated = was_issued(token, world)
        yield Refusal(rules.BAD_TOKEN, 401, "unauthorized", message, "authorization", outdated=outdated)
