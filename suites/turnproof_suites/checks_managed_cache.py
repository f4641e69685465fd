"""Managed caches: a prefix stored under a name is stored once, used by every request, and replaced when it is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from turnproof.dialects.base import Call
from turnproof.messages import to_builtins
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.exchange import Exchange

from .reading import requested, system_text


def _operations(view: View, action: str) -> Iterator[Call]:
    """The operations of one kind on managed caches that the service granted; those of purity probes are left aside."""
    for exchange in view.exchanges:
        granted = exchange.response is not None and exchange.response.status == 200 and not exchange.request.probe
        if granted and exchange.call is not None and exchange.call.action == action:
            yield exchange.call


def _prefix(call: Call) -> bytes:
    tools = sorted(call.tools, key=lambda tool: tool.name)
    return msgspec.json.encode([system_text(call), to_builtins(tools)])


def _is_lost(exchange: Exchange) -> bool:
    """Whether an answer was refused because the cache that the request named was gone."""
    return exchange.generates and exchange.error_meaning == "cache-expired"


@check("cache/managed-cache-serves-the-prefix")
def managed_cache_serves_the_prefix(view: View) -> Findings:
    """A system text and tools that are surely worth storing are named in every request, and read from the cache."""
    facts = view.dialect.models.get(view.transcript.model)
    if not view.scenario.cache or facts is None:
        return
    for request in requested(view):
        size = view.dialect.count(replace(request.sent, messages=()))
        if size < 2 * facts.cache_minimum_tokens:
            continue
        usage = request.exchange.answer.usage if request.exchange.answer is not None else None
        if request.sent.resource is None:
            yield violated(f"{request.where}: system text and tools, {size} tokens, go out in full")
        elif request.exchange.clean and usage is not None and not usage.cache_read_tokens:
            yield violated(f"{request.where}: it names {request.sent.resource!r}, and nothing was read from the cache")
        else:
            yield "requests that name a managed cache"


@check("cache/managed-cache-is-made-once")
def managed_cache_is_made_once(view: View) -> Findings:
    """One for each system text and set of tools; another one only for each that the service had lost."""
    made = Counter(_prefix(call) for call in _operations(view, "create"))
    lost = sum(map(_is_lost, view.exchanges))
    for times in made.values():
        if times > 1 + lost:
            yield violated(f"the same system text and tools were stored {times} times; the service lost {lost} of them")
        else:
            yield "managed caches"


@check("cache/lost-cache-is-replaced")
def lost_cache_is_replaced(view: View) -> Findings:
    """A cache that expired, or was deleted, costs the turn nothing: the prefix is stored anew, or sent in full."""
    for turn in view.turns:
        requests = [exchange for call in turn.calls for exchange in call.generated]
        lost = [exchange for exchange in requests if _is_lost(exchange)]
        if not lost:
            continue
        gone = {exchange.call.resource for exchange in lost if exchange.call is not None}
        last = requests[-1].call
        if turn.ended is None or turn.ended.outcome != "answer":
            why = f" with {turn.failed.error}" if turn.failed is not None else ""
            yield violated(f"{turn.where}: the service had lost {sorted(map(str, gone))}, and the turn ended{why}")
        elif last is not None and last.resource in gone:
            yield violated(f"{turn.where}: {last.resource!r} is named again after the service had lost it")
        else:
            yield "turns whose cache was lost"


@check("cache/managed-caches-are-deleted")
def managed_caches_are_deleted(view: View) -> Findings:
    """What was stored is paid for by the hour: shutting down deletes it."""
    made = sum(1 for _ in _operations(view, "create"))
    lost = sum(map(_is_lost, view.exchanges))
    deleted = sum(1 for _ in _operations(view, "delete"))
    if not made:
        return
    if deleted + lost >= made:
        yield "managed caches at the end"
    else:
        yield violated(f"{made} managed caches were made, {lost} were lost, and {deleted} deleted in the end")
