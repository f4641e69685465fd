"""Who is asking: a key at most surfaces; a session token at Copilot, from an editor that names its version."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from ..openai_common import AZURE_KINDS, WRONG_KEY, is_live_copilot_token, was_issued
from . import rules
from .surfaces import EXCHANGE, Surface

_XAI_KEY = "Incorrect API key provided: ***. You can obtain an API key from https://console.x.ai."


def key_of(request: HttpRequest, surface: Surface) -> str:
    """The key of whoever owns what a request creates. A session token of Copilot does not tell whose it is, and a
    server of llama.cpp has one owner."""
    if surface in (Surface.COPILOT, Surface.LLAMACPP):
        return ""
    return _key(request, surface)


def _key(request: HttpRequest, surface: Surface) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    own = request.headers.get("api-key", "") if surface is Surface.AZURE else ""
    return own or (token.strip() if scheme.lower() == "bearer" else "")


def refusals(request: HttpRequest, surface: Surface, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing.

    A server of llama.cpp asks nobody unless it is started with a key.
    """
    key = _key(request, surface)
    is_good = bool(key) and (world.any_key or key in world.keys)
    match surface:
        case Surface.OPENAI if not key:
            message = "Missing bearer or basic authentication in header"
            yield Refusal(rules.MISSING_KEY, 401, "invalid_request_error", message, "authorization")
        case Surface.OPENAI if not is_good:
            yield Refusal(rules.BAD_KEY, 401, "invalid_api_key", WRONG_KEY, "authorization")
        case Surface.AZURE:
            if not is_good:
                yield Refusal(rules.AZURE_KEY, 401, *AZURE_KINDS[401], "authorization")
            # The address without a deployment has its version in the path.
            if "api-version" not in request.query and not request.path.startswith("/openai/v1/"):
                yield Refusal(rules.AZURE_VERSION, 404, *AZURE_KINDS[404])
        case Surface.XAI if not is_good:
            yield Refusal(rules.XAI_KEY, 400, "Client specified an invalid argument", _XAI_KEY, "authorization")
        case Surface.OPENROUTER if not is_good:
            yield Refusal(rules.OPENROUTER_KEY, 401, "401", "User not found.", "authorization")
        case Surface.COPILOT:
            yield from _copilot(request, world)


def _copilot(request: HttpRequest, world: World) -> Iterator[Refusal]:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    scheme, token = scheme.lower(), token.strip()
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
