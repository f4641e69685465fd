"""The two surfaces of the server: its own API, and the one that speaks Anthropic's format.

The third, OpenAI's format, is a surface of `openai-chat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..base import Call, HttpRequest, Operation


class Surface(StrEnum):
    """One of the services, or addresses of one, that speak the API."""

    MESSAGES = "messages"
    NATIVE = "native"


@dataclass(frozen=True, slots=True)
class OllamaCall(Call):
    """A call, the surface it came by, and what its address asks for (the last word of it; `home` for the root)."""

    surface: Surface = Surface.MESSAGES
    verb: str = "messages"


@dataclass(frozen=True, slots=True)
class Address:
    """What a request's method and path say."""

    surface: Surface
    operation: Operation
    verb: str


ADDRESSES: Mapping[tuple[str, str], Address] = {
    ("POST", "/v1/messages"): Address(Surface.MESSAGES, "generate", "messages"),
    ("GET", "/v1/models"): Address(Surface.MESSAGES, "list_models", "models"),
    ("POST", "/api/chat"): Address(Surface.NATIVE, "generate", "chat"),
    ("POST", "/api/generate"): Address(Surface.NATIVE, "generate", "generate"),
    ("GET", "/api/tags"): Address(Surface.NATIVE, "list_models", "tags"),
    ("POST", "/api/show"): Address(Surface.NATIVE, "get_model", "show"),
    ("GET", "/api/ps"): Address(Surface.NATIVE, "other", "ps"),
    ("GET", "/api/version"): Address(Surface.NATIVE, "other", "version"),
    ("GET", ""): Address(Surface.NATIVE, "other", "home"),
}


def address(request: HttpRequest) -> Address | None:
    """The address of a request; None where the server has nothing there."""
    return ADDRESSES.get((request.method.upper(), request.path.rstrip("/")))


def surface_of(request: HttpRequest) -> Surface:
    """The surface that a request addresses, also where its path names nothing."""
    return Surface.MESSAGES if request.path.startswith("/v1/") else Surface.NATIVE
