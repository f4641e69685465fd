"""Who is asking: an API key, on Azure also a bearer token, on Copilot a session token and the editor's headers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..base import HttpRequest, Refusal, Rule, World
from ..openai_common import WRONG_KEY, is_live_copilot_token, was_issued
from . import rules
from .errors import KINDS, ChatRefusal
from .surfaces import Surface

_NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API "
    "from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)
_EXCHANGE = "/copilot_internal/"


def refusals(request: HttpRequest, surface: Surface, world: World) -> Iterator[Refusal]:
    """What is wrong with the caller's identity; a request without fault in it gives nothing.

    A local Ollama asks nobody (`ollama.md` §1).
    """
    match surface:
        case Surface.OPENAI:
            yield from _openai(request, world)
        case Surface.AZURE:
            yield from _azure(request, world)
        case Surface.GITHUB:
            yield from _bearer(request, world, rules.GITHUB_KEY, surface)
        case Surface.COPILOT:
            yield from _copilot(request, world)
        case Surface.ZAI:
            yield from _bearer(request, world, rules.ZAI_KEY, surface)


def _token(request: HttpRequest, scheme: str = "bearer") -> str | None:
    sent_scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if sent_scheme.lower() == scheme and token.strip() else None


def _is_good(key: str | None, world: World) -> bool:
    return key is not None and (world.any_key or key in world.keys)


def _openai(request: HttpRequest, world: World) -> Iterator[Refusal]:
    key = _token(request)
    if key is None:
        yield ChatRefusal(rules.MISSING_KEY, 401, "invalid_request_error", _NO_KEY)
    elif not _is_good(key, world):
        yield ChatRefusal(rules.BAD_KEY, 401, "invalid_api_key", WRONG_KEY)


def _azure(request: HttpRequest, world: World) -> Iterator[Refusal]:
    if not _is_good(request.headers.get("api-key") or _token(request), world):
        yield _unauthorized(rules.AZURE_KEY, Surface.AZURE)
    # The address without a deployment has its version in the path.
    if "api-version" not in request.query and not request.path.startswith("/openai/v1/"):
        yield ChatRefusal(rules.AZURE_VERSION, 404, "404", "Resource not found", surface=Surface.AZURE)


def _bearer(request: HttpRequest, world: World, rule: Rule, surface: Surface) -> Iterator[Refusal]:
    if not _is_good(_token(request), world):
        yield _unauthorized(rule, surface)


def _copilot(request: HttpRequest, world: World) -> Iterator[Refusal]:
    if request.path.startswith(_EXCHANGE):
        if not _is_good(_token(request, "token") or _token(request), world):
            yield ChatRefusal(rules.COPILOT_KEY, 401, "unauthorized", "Bad credentials", surface=Surface.COPILOT)
        return
    token = _token(request)
    if token is None or not (world.any_key or is_live_copilot_token(token, world)):
        refusal = _unauthorized(rules.COPILOT_TOKEN, Surface.COPILOT)
        yield replace(refusal, outdated=was_issued(token, world))
    if "editor-version" not in request.headers:
        message = "bad request: missing Editor-Version header for IDE auth"
        yield ChatRefusal(rules.COPILOT_EDITOR, 400, "bad_request", message, surface=Surface.COPILOT)


def _unauthorized(rule: Rule, surface: Surface) -> Refusal:
    kind, message = KINDS[surface][401]
    return ChatRefusal(rule, 401, kind, message, surface=surface)
