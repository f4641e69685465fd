"""Managed caches: a prefix stored under a name is stored once, used by every request, and replaced when it is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from turnproof.dialects.base import Call
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import to_builtins

from .content import system_text
from .reading import at_text, read_requests


def _operations(view: View, action: str) -> Iterator[tuple[Exchange, Call]]:
    """The operations of one kind on managed caches that the service granted; those of probes are left aside."""
    for exchange in view.exchanges:
        granted = exchange.response is not None and exchange.response.status == 200 and not exchange.request.probe
        if granted and exchange.call is not None and exchange.call.action == action:
            yield exchange, exchange.call


def _not_made(view: View) -> Iterator[bytes]:
    """The system texts with tools for which the real service, and not the emulator, made no managed cache."""
    for exchange in view.exchanges:
        response, call = exchange.response, exchange.call
        if response is not None and response.origin and response.status != 200 and call and call.action == "create":
            yield _prefix(call)


def _prefix(call: Call) -> bytes:
    tools = sorted(call.tools, key=lambda tool: tool.name)
    return msgspec.json.encode([system_text(call), to_builtins(tools)])


def _is_lost(exchange: Exchange) -> bool:
    """Whether an answer was refused because the cache that the request named was gone."""
    return exchange.generates and exchange.error_meaning == "cache-expired"


_IN_FULL = finding(
    "cache/managed-cache-serves-the-prefix/in-full",
    "System text and tools that are worth storing go out in full.",
    "a request that names a managed cache for its {tokens} tokens of system text and tools",
    "all of them in the request",
)
_NOTHING_READ = finding(
    "cache/managed-cache-serves-the-prefix/nothing-read",
    "The request names a managed cache, and nothing was read from it.",
    "tokens read from the cache {cache}",
)


@check("cache/managed-cache-serves-the-prefix")
def managed_cache_serves_the_prefix(view: View) -> Findings:
    """A system text and tools that are surely worth storing are named in every request, and read from the cache.

    Where the real service did not make the cache there is none to name.
    """
    facts = view.dialect.models.get(view.transcript.model)
    if not view.scenario.cache or facts is None:
        return
    not_made = set(_not_made(view))
    for request in read_requests(view):
        size = view.dialect.count(replace(request.wire, messages=()))
        if size < 2 * facts.cache_minimum_tokens:
            continue
        if request.wire.resource is None and _prefix(request.wire) in not_made:
            continue
        usage = request.exchange.answer.usage if request.exchange.answer is not None else None
        if request.wire.resource is None:
            yield _IN_FULL(request.at("system"), tokens=size)
        elif request.exchange.clean and usage is not None and not usage.cache_read_tokens:
            yield _NOTHING_READ(
                request.exchange.at(Side.STREAM),
                observed=usage.cache_read_tokens,
                related=[at_text(request.exchange, request.wire.resource)],
                cache=request.wire.resource,
            )
        else:
            yield Compared("requests that name a managed cache")


_MADE_AGAIN = finding(
    "cache/managed-cache-is-made-once/again",
    "The same system text and tools are stored again.",
    "at most {expected} managed caches for them, of which the service lost {lost}",
)


@check("cache/managed-cache-is-made-once")
def managed_cache_is_made_once(view: View) -> Findings:
    """One for each system text and set of tools; another one only for each that the service had lost."""
    creations: dict[bytes, list[Exchange]] = {}
    for exchange, call in _operations(view, "create"):
        creations.setdefault(_prefix(call), []).append(exchange)
    lost_count = sum(map(_is_lost, view.exchanges))
    for exchanges in creations.values():
        if len(exchanges) > 1 + lost_count:
            yield _MADE_AGAIN(
                exchanges[1 + lost_count].at(),
                expected=1 + lost_count,
                observed=len(exchanges),
                related=[exchange.at() for exchange in exchanges[: 1 + lost_count]],
                lost=lost_count,
            )
        else:
            yield Compared("managed caches")


_TURN_LOST = finding(
    "cache/lost-cache-is-replaced/outcome",
    "The turn fails because the service has lost a managed cache.",
    "the outcome {expected}, though the service has lost {lost}",
)
_NAMED_AGAIN = finding(
    "cache/lost-cache-is-replaced/named-again",
    "The request names a managed cache that the service has lost.",
    "a new managed cache, or none",
)


@check("cache/lost-cache-is-replaced")
def lost_cache_is_replaced(view: View) -> Findings:
    """A cache that expired, or was deleted, costs the turn nothing: the prefix is stored anew, or sent in full."""
    for turn in view.turns:
        requests = [exchange for call in turn.calls for exchange in call.generated]
        lost_requests = [exchange for exchange in requests if _is_lost(exchange)]
        if not lost_requests:
            continue
        lost_names = {exchange.call.resource for exchange in lost_requests if exchange.call is not None}
        last = requests[-1].call
        if turn.ended is None or turn.ended.outcome != "answer":
            place = turn.at() if turn.ended is None else turn.at_event(turn.ended, "outcome")
            outcome = None if turn.ended is None else turn.ended.outcome
            related = [exchange.at(Side.STREAM) for exchange in lost_requests]
            yield _TURN_LOST(
                place, expected="answer", observed=outcome, related=related, lost=sorted(map(str, lost_names))
            )
        elif last is not None and last.resource is not None and last.resource in lost_names:
            related = [lost_requests[-1].at(Side.STREAM)]
            yield _NAMED_AGAIN(at_text(requests[-1], last.resource), observed=last.resource, related=related)
        else:
            yield Compared("turns whose cache was lost")


_NOT_DELETED = finding(
    "cache/managed-caches-are-deleted/left",
    "A managed cache is not deleted at the end.",
    "{expected} managed caches deleted ({made} made, {lost} lost by the service)",
)


@check("cache/managed-caches-are-deleted")
def managed_caches_are_deleted(view: View) -> Findings:
    """What was stored is paid for by the hour: shutting down deletes it."""
    creations = [exchange for exchange, _ in _operations(view, "create")]
    lost_count = sum(map(_is_lost, view.exchanges))
    deleted = sum(1 for _ in _operations(view, "delete"))
    if not creations:
        return
    if deleted + lost_count >= len(creations):
        yield Compared("managed caches at the end")
    else:
        yield _NOT_DELETED(
            view.at_event(view.transcript.end),
            expected=len(creations) - lost_count,
            observed=deleted,
            related=[exchange.at() for exchange in creations],
            made=len(creations),
            lost=lost_count,
        )
