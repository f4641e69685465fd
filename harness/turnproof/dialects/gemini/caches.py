"""Managed caches (`cachedContents`): made once, named in requests, gone when their time is over.

They live in `World.resources`, by name, on the world's clock. A name is never used again: what was deleted leaves its
name behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...messages import JSON
from ..base import World
from ..lenient_reading import json_of, number
from ..seeded_random import seeded_word
from .surfaces import GeminiCall, Surface
from .times import format_timestamp, parse_duration, parse_timestamp

DEFAULT_LIFETIME = 3600.0
"""Seconds that a cache lives if nothing is said (documentation); use does not make it live longer."""

_DIGITS, _BASE36 = "0123456789", "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class CachedContent:
    """One managed cache. `body` is the request that made it; times are seconds on the world's clock."""

    name: str
    model: str
    body: Mapping[str, Any]
    tokens: int
    created: float
    updated: float
    expires: float
    deleted: bool = False


def find_cache(world: World, name: str | None) -> CachedContent | None:
    """The cache of that name; None where there was none, or is none any more."""
    found = world.resources.get(name or "")
    alive = isinstance(found, CachedContent) and not found.deleted and found.expires > world.clock()
    return found if alive else None


def create(call: GeminiCall, tokens: int, world: World, seed: str) -> JSON:
    """Make the cache that `call` describes; `tokens` is what it holds. Equal seeds and worlds give equal names."""
    now = world.clock()
    body = call.body or {}
    name = _new_name(call, world, seed)
    cache = CachedContent(name, call.model or "", body, tokens, now, now, _expiry(body, now))
    world.resources[name] = cache
    return cache_entry(cache, call)


def update(found: CachedContent, call: GeminiCall, world: World) -> JSON:
    """Give a living cache another end, if the call names one."""
    now, body = world.clock(), call.body or {}
    expires = found.expires if body.keys().isdisjoint({"ttl", "expireTime"}) else _expiry(body, now)
    cache = replace(found, updated=now, expires=expires)
    world.resources[cache.name] = cache
    return cache_entry(cache, call)


def delete(found: CachedContent, world: World) -> JSON:
    """Forget a cache."""
    world.resources[found.name] = replace(found, deleted=True)
    return {}


def list_caches(call: GeminiCall, world: World) -> JSON:
    """All living caches of the caller's surface and project, the newest last; an empty object where there are none."""
    prefix = f"{call.parent}/cachedContents/" if call.parent else "cachedContents/"
    names = [name for name in world.resources if name.startswith(prefix)]
    found = [cache_entry(cache, call) for name in names if (cache := find_cache(world, name)) is not None]
    return {"cachedContents": found} if found else {}


def cache_entry(cache: CachedContent, call: GeminiCall) -> JSON:
    """A cache as the service shows it: what it holds is not shown."""
    parent = f"{call.parent}/publishers/google/" if call.surface is Surface.VERTEX else ""
    display = cache.body.get("displayName")
    # Vertex leaves an empty display name out, the Gemini API does not (recorded).
    named = {"displayName": display or ""} if display or call.surface is Surface.AI_STUDIO else {}
    return {
        "name": cache.name,
        "model": f"{parent}models/{cache.model}",
        "createTime": format_timestamp(cache.created),
        "updateTime": format_timestamp(cache.updated),
        "expireTime": format_timestamp(cache.expires),
        **named,
        "usageMetadata": {"totalTokenCount": cache.tokens},
    }


def observe(call: GeminiCall, status: int, body: bytes, world: World) -> None:
    """Let the world know what a recorded or real answer to an operation on caches did, their lives on our clock."""
    if status != 200:
        return
    found, now = world.resources.get(call.resource or ""), world.clock()
    if isinstance(found, CachedContent) and call.action == "delete":
        delete(found, world)
    document = json_of(body)
    if not isinstance(document, dict):
        return
    ends = now + _reported_lifetime(document)
    if isinstance(found, CachedContent) and call.action == "update":
        world.resources[found.name] = replace(found, updated=now, expires=ends)
    elif call.action == "create" and isinstance(name := document.get("name"), str):
        usage = document.get("usageMetadata")
        tokens = number(usage, "totalTokenCount") if isinstance(usage, dict) else 0
        world.resources[name] = CachedContent(name, call.model or "", call.body or {}, tokens, now, now, ends)


def _new_name(call: GeminiCall, world: World, seed: str) -> str:
    alphabet, length = (_DIGITS, 19) if call.surface is Surface.VERTEX else (_BASE36, 40)
    parent = f"{call.parent}/" if call.parent else ""
    # Counted among all there ever were: names of the deleted are not given again.
    return f"{parent}cachedContents/{_seeded_name(alphabet, length, seed, len(world.resources))}"


def _seeded_name(alphabet: str, length: int, seed: str, number: int) -> str:
    half = length // 2
    return seeded_word(alphabet, half, seed, "cache", number) + seeded_word(
        alphabet, length - half, seed, "cache", number, "more"
    )


def _expiry(body: Mapping[str, Any], now: float) -> float:
    if "expireTime" in body:
        return parse_timestamp(body["expireTime"]) or now
    return now + (parse_duration(body["ttl"]) or 0.0 if "ttl" in body else DEFAULT_LIFETIME)


def _reported_lifetime(document: Mapping[str, Any]) -> float:
    updated, expires = parse_timestamp(document.get("updateTime")), parse_timestamp(document.get("expireTime"))
    return DEFAULT_LIFETIME if updated is None or expires is None else expires - updated
