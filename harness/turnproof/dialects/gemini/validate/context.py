"""What every rule looks at: the request for an answer, its turns, the model's facts, and the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base import HttpRequest, Refusal, Rule, World
from ...error_answers import bad_request
from ...judged_request import JudgedRequest
from .. import caches
from ..caches import CachedContent
from ..conversation import Content, Turn, turns
from ..surfaces import GeminiCall, Surface


@dataclass(frozen=True, slots=True)
class Context(JudgedRequest[GeminiCall]):
    """One request under judgement.

    `content` is what would be answered: the body, or what `countTokens` wraps, or what a cache is to hold; `message` is
    the name under which the service speaks of it. `facts` is None for an unknown model: rules about models are then
    silent. `cache` is the living cache that is named, whose contents stand in front of the turns.
    """

    content: Mapping[str, Any]
    message: str
    contents: Sequence[Content]
    turns: Sequence[Turn]
    cache: CachedContent | None

    @classmethod
    def from_request(cls, request: HttpRequest, call: GeminiCall, world: World) -> Context:
        body = call.body or {}
        wrapped = body.get("generateContentRequest")
        content = wrapped or body
        contents = content.get("contents", ())
        cache = caches.find_cache(world, content.get("cachedContent"))
        managed = cache.body.get("contents", ()) if cache else ()
        return cls(
            request=request,
            call=call,
            world=world,
            content=content,
            message=_name(call, wrapped=wrapped is not None),
            contents=contents,
            turns=turns(contents, managed),
            facts=world.models.get(call.model or ""),
            cache=cache,
        )

    @property
    def vertex(self) -> bool:
        return self.call.surface is Surface.VERTEX


def _name(call: GeminiCall, *, wrapped: bool) -> str:
    match call.operation:
        case "count_tokens":
            return "CountTokensRequest.generate_content_request" if wrapped else "CountTokensRequest"
        case "cache":
            return "CreateCachedContentRequest.cached_content"
        case _:
            return "GenerateContentRequest"


def refuse(rule: Rule, message: str, path: str = "$") -> Refusal:
    """The usual refusal: 400 INVALID_ARGUMENT."""
    return bad_request(rule, "INVALID_ARGUMENT", message, path)
