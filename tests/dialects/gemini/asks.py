"""Requests to the Gemini API and to Vertex, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.caches import CachedContent
from turnproof.dialects.gemini.signing import digest
from turnproof.messages import FunctionCall

from .. import refusals, requests
from ..requests import Json
from .builders import (
    CACHE,
    DELETED,
    EXPIRED,
    HANDBOOK,
    KEY,
    MODEL,
    NOW,
    OF_OLD,
    OLD,
    OPENING,
    OTHER_CALLS_SIGNATURE,
    OTHER_MODELS_SIGNATURE,
    PROJECT,
    SIGNATURE,
    TOOL,
    TOOLS,
    UNREACHABLE,
    VERTEX_CACHE,
    user,
)


def world() -> World:
    """The world of the pairs: one key, all models, three signatures issued, five caches, one dead URL."""
    call, another = FunctionCall("", "read_sensor", {"bed": "3"}), FunctionCall("", "read_sensor", {"bed": "4"})
    return World(
        keys=frozenset({KEY}),
        models=DIALECT.models,
        clock=lambda: NOW,
        issued={
            SIGNATURE: (digest(call), MODEL),
            OTHER_CALLS_SIGNATURE: (digest(another), MODEL),
            OTHER_MODELS_SIGNATURE: (digest(call), "gemini-3.5-flash"),
        },
        unreachable_urls=frozenset({UNREACHABLE}),
        resources={
            cache.name: cache
            for cache in (
                _cache(CACHE, MODEL),
                _cache(EXPIRED, MODEL, expires=NOW),
                replace(_cache(DELETED, MODEL), deleted=True),
                _cache(OF_OLD, OLD),
                _cache(VERTEX_CACHE, MODEL),
            )
        },
    )


def _cache(name: str, model: str, expires: float = NOW + 60) -> CachedContent:
    body = {"model": f"models/{model}", "contents": [user(HANDBOOK)], "tools": TOOLS}
    return CachedContent(name, model, body, 1600, NOW - 60, NOW - 60, expires)


@dataclass(frozen=True)
class Ask(requests.Ask):
    """One request to the Gemini API, or to Vertex."""

    BODILESS = ("GET", "DELETE")

    path: str = f"/v1beta/models/{MODEL}:generateContent"

    @property
    def vertex(self) -> bool:
        return self.path.startswith("/v1beta1/")

    @property
    def usual_headers(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {KEY}"} if self.vertex else {"x-goog-api-key": KEY}


@dataclass(frozen=True)
class Pair(refusals.Pair[Ask]):
    """A pair with what the refusals of this API mostly have."""

    kind: str = "INVALID_ARGUMENT"


def body(*contents: Json, **more: Any) -> Json:
    """A request of these contents (one question where there are none)."""
    return {"contents": list(contents or (OPENING,))} | more


def ask(*contents: Json, **more: Any) -> Ask:
    return Ask(body(*contents, **more))


def at(model: str, request: Ask) -> Ask:
    """The same at another model."""
    return replace(request, path=request.path.replace(MODEL, model))


def vertex(request: Ask) -> Ask:
    """The same at the other door."""
    return replace(request, path=request.path.replace("/v1beta/", f"/v1beta1/{PROJECT}/publishers/google/"))


def loop(*contents: Json) -> Ask:
    """A running tool loop: asked, and then these contents."""
    return ask(OPENING, *contents, tools=TOOLS)


def declared(*tools: Json) -> Ask:
    return ask(tools=[{"functionDeclarations": list(tools)}])


def parameters(**schema: Any) -> Ask:
    return declared(TOOL | {"parameters": {"type": "OBJECT", "properties": {"bed": schema}}})


def configured(**config: Any) -> Ask:
    return ask(generationConfig=config)


def counted(**more: Any) -> Ask:
    return Ask(more, f"/v1beta/models/{MODEL}:countTokens")


def cached(name: str = CACHE, **more: Any) -> Ask:
    return ask(cachedContent=name, **more)


def created(text: str = HANDBOOK, **more: Any) -> Ask:
    return Ask({"model": f"models/{MODEL}", "contents": [user(text)]} | more, "/v1beta/cachedContents")


def on_cache(name: str, method: str, **more: Any) -> Ask:
    return Ask(more, f"/v1beta/{name}", method)
