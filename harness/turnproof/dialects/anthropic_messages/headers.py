"""What the service refuses before it looks at a body: the key, the API version, beta values."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import HttpRequest, Refusal, World
from . import rules
from .fields import BETAS

OLD_VERSION = "2023-06-01"
NEW_VERSION = "2026-10-21"


def refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """Everything wrong with the headers, the key first."""
    yield from _key(request, world)
    if "anthropic-version" not in request.headers:
        yield _invalid_version()
    yield from _betas(request)
    if request.method == "POST" and not request.headers.get("content-type", "").startswith("application/json"):
        message = "content-type: application/json is required"
        yield Refusal(rules.CONTENT_TYPE, 400, "invalid_request_error", message, "content-type")


def betas(request: HttpRequest) -> frozenset[str]:
    """The beta values that were sent."""
    header = request.headers.get("anthropic-beta", "")
    return frozenset(value.strip() for value in header.split(",") if value.strip())


def is_new_version(request: HttpRequest) -> bool:
    """Whether the request speaks API version 2026-10-21 or a later one."""
    return request.headers.get("anthropic-version", OLD_VERSION) >= NEW_VERSION


def _key(request: HttpRequest, world: World) -> Iterator[Refusal]:
    key = request.headers.get("x-api-key")
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    if key is None and scheme.lower() != "bearer":
        message = "x-api-key header is required"
        yield Refusal(rules.MISSING_KEY, 401, "authentication_error", message, "x-api-key")
    elif world.any_key:
        return
    elif key is not None and key not in world.keys:
        yield Refusal(rules.BAD_KEY, 401, "authentication_error", "invalid x-api-key", "x-api-key")
    elif key is None and bearer.strip() not in world.keys:
        yield Refusal(rules.BAD_BEARER, 401, "authentication_error", "Invalid bearer token", "authorization")


def _invalid_version() -> Refusal:
    message = "anthropic-version: header is required"
    return Refusal(rules.MISSING_VERSION, 400, "invalid_request_error", message, "anthropic-version")


def _betas(request: HttpRequest) -> Iterator[Refusal]:
    # What the list lacks may be newer than it, or a value of the gateway in between.
    unknown = sorted(betas(request) - BETAS)
    if unknown:
        names = ", ".join(f"`{value}`" for value in unknown)
        message = (
            f"Unexpected value(s) {names} for the `anthropic-beta` header. Please consult our documentation at "
            "docs.anthropic.com or try again without the header."
        )
        yield Refusal(rules.UNKNOWN_BETA, 400, "invalid_request_error", message, "anthropic-beta", unlisted=True)
