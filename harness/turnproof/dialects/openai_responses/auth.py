"""Who is asking: a key at OpenAI; a session token at Copilot, from an editor that names its version."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from ..openai_chat import tokens
from . import rules
from .surfaces import EXCHANGE, Surface, surface_of

_KEYS = "https://platform.openai.com/account/api-keys"
_HIDDEN = 8
"""A key longer than this is named by its ends only, as the service does."""


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if surface_of(request) is Surface.COPILOT:
        yield from _copilot(request, scheme.lower(), token.strip(), world)
    elif scheme.lower() != "bearer" or not token.strip():
        message = "Missing bearer or basic authentication in header"
        yield Refusal(rules.MISSING_KEY, 401, "invalid_request_error", message, "authorization")
    elif not world.any_key and token.strip() not in world.keys:
        message = f"Incorrect API key provided: {_masked(token.strip())}. You can find your API key at {_KEYS}."
        yield Refusal(rules.BAD_KEY, 401, "invalid_api_key", message, "authorization")


def _copilot(request: HttpRequest, scheme: str, token: str, world: World) -> Iterator[Refusal]:
    if request.path == EXCHANGE:
        if scheme not in ("token", "bearer") or not (world.any_key or token in world.keys):
            yield Refusal(rules.BAD_GITHUB_TOKEN, 401, "unauthorized", "Bad credentials", "authorization")
        return
    if not request.headers.get("editor-version"):
        message = "bad request: missing Editor-Version header for IDE auth"
        yield Refusal(rules.MISSING_EDITOR, 400, "bad_request", message, "editor-version")
    if scheme != "bearer" or not (world.any_key or tokens.is_alive(token, world)):
        yield Refusal(rules.BAD_TOKEN, 401, "unauthorized", "unauthorized: token expired or invalid", "authorization")


def _masked(key: str) -> str:
    # Ours is stricter than the service, which shows short keys whole: no key may stand in an answer.
    return f"{key[:3]}***{key[-2:]}" if len(key) > _HIDDEN else "***"
