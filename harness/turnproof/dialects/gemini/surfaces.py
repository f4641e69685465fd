"""The surfaces of the API: the Gemini API (AI Studio) and Vertex AI, and Cloud Code, which wraps the same bodies.

They take and give the same bodies and differ in address, authentication and the words of some errors. Vertex's own
surface for API keys ("express mode") leaves the project out of the address. How Cloud Code is addressed, and what it
wraps the bodies in, is for the dialect `antigravity`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ..base import Call, HttpRequest, Operation, Refusal


class Surface(StrEnum):
    """One of the services, or addresses of one, that speak the API."""

    AI_STUDIO = "ai-studio"
    VERTEX = "vertex"
    CLOUD_CODE = "cloud-code"


@dataclass(frozen=True, slots=True)
class GeminiCall(Call):
    """A call and what only this API has: the surface and the version it came by, and how a stream is to be framed.

    `parent` is `projects/P/locations/L` on Vertex and empty elsewhere. Without `sse` (`?alt=sse`) a stream is one JSON
    array, sent in pieces. `doubts` are what the reader of the body would perhaps have refused.
    """

    surface: Surface = Surface.AI_STUDIO
    version: str = "v1beta"
    parent: str = ""
    sse: bool = True
    doubts: tuple[Refusal, ...] = ()


Action = Literal["", "create", "get", "list", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Address:
    """What a request's method and path say. `parent` is `projects/P/locations/L` or empty, `verb` the API's word."""

    surface: Surface
    version: str
    operation: Operation
    verb: str = ""
    model: str | None = None
    parent: str = ""
    action: Action = ""
    resource: str | None = None


_MODEL = re.compile(r"/(v1(?:alpha|beta)?)/models/([^/:]+)(?::(\w+))?")
_MODELS = re.compile(r"/(v1(?:alpha|beta)?)/models")
_CACHES = re.compile(r"/(v1(?:alpha|beta)?)/(cachedContents(?:/([^/:]+))?)")
_VERTEX_MODEL = re.compile(
    r"/(v1(?:beta1)?)/(?:(projects/[^/]+/locations/[^/]+)/)?publishers/google/models/([^/:]+)(?::(\w+))?"
)
_VERTEX_MODELS = re.compile(r"/(v1(?:beta1)?)/(?:(projects/[^/]+/locations/[^/]+)/)?publishers/google/models")
_VERTEX_CACHES = re.compile(r"/(v1(?:beta1)?)/((projects/[^/]+/locations/[^/]+)/cachedContents(?:/([^/:]+))?)")

_VERBS: dict[str, Operation] = {
    "generateContent": "generate",
    "streamGenerateContent": "generate",
    "countTokens": "count_tokens",
}
_ON_CACHES: dict[tuple[str, bool], Action] = {
    ("POST", False): "create",
    ("GET", False): "list",
    ("GET", True): "get",
    ("PATCH", True): "update",
    ("DELETE", True): "delete",
}


def surface_of(request: HttpRequest) -> Surface:
    """The surface that a request addresses, also where its path names nothing."""
    vertex = re.match(r"/v1(?:beta1)?/(projects|publishers)/", request.path)
    return Surface.VERTEX if vertex else Surface.AI_STUDIO


def address(request: HttpRequest) -> Address | None:
    """What a request is addressed to; None where the API has nothing for this method and path."""
    method, path = request.method.upper(), request.path.rstrip("/")
    if found := _MODEL.fullmatch(path):
        return _model(Surface.AI_STUDIO, method, found[1], "", found[2], found[3])
    if found := _VERTEX_MODEL.fullmatch(path):
        return _model(Surface.VERTEX, method, found[1], found[2] or "", found[3], found[4])
    if found := _CACHES.fullmatch(path):
        return _cache(Surface.AI_STUDIO, method, found[1], "", found[2] if found[3] else None)
    if found := _VERTEX_CACHES.fullmatch(path):
        return _cache(Surface.VERTEX, method, found[1], found[3], found[2] if found[4] else None)
    if method == "GET" and (found := _MODELS.fullmatch(path)):
        return Address(Surface.AI_STUDIO, found[1], "list_models")
    if method == "GET" and (found := _VERTEX_MODELS.fullmatch(path)):
        return Address(Surface.VERTEX, found[1], "list_models", parent=found[2] or "")
    return None


def _model(surface: Surface, method: str, version: str, parent: str, model: str, verb: str | None) -> Address | None:
    if verb is None:
        return Address(surface, version, "get_model", model=model, parent=parent) if method == "GET" else None
    operation = _VERBS.get(verb) if method == "POST" else None
    return Address(surface, version, operation, verb, model, parent) if operation else None


def _cache(surface: Surface, method: str, version: str, parent: str, resource: str | None) -> Address | None:
    action = _ON_CACHES.get((method, resource is not None))
    return Address(surface, version, "cache", parent=parent, action=action, resource=resource) if action else None


def package(surface: Surface, version: str) -> str:
    """The name under which the service knows its messages."""
    match surface:
        case Surface.AI_STUDIO:
            return f"google.ai.generativelanguage.{version}"
        case Surface.VERTEX:
            return f"google.cloud.aiplatform.{version}"
        case Surface.CLOUD_CODE:
            # It hands on to Vertex AI, and says so in its faults: decolua/9router#2595.
            return "google.cloud.aiplatform.master"


def bare_model(name: str) -> str:
    """A model's id without the folders it stands in (`models/…`, `projects/…/publishers/google/models/…`)."""
    return name.rpartition("/")[2]
