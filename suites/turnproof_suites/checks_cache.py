"""Prompt caching: what was paid for once is found again, because the start of the conversation never changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from turnproof.dialects.base import Call, ModelFacts
from turnproof.messages import JSON, FileRef, InlineData, Message, Part, ToolResult, ToolSchema
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import TurnView, View
from turnproof.view.diff import differences

from .reading import Answered, Requested, answered, begun, makes_room, requested, row, system_text

_MOST_MARKS = 4


def _marks(messages: Iterable[Message]) -> list[str]:
    """The lives of all marks in some messages, those in tool results included."""
    found: list[str] = []
    for message in messages:
        for part in message.parts:
            nested = part.attachments if isinstance(part, ToolResult) else ()
            found += [one.cache.ttl for one in (part, *nested) if one.cache is not None]
    return found


def _all_marks(sent: Call) -> list[str]:
    on_system = [part.cache.ttl for part in sent.system if part.cache is not None]
    return [*_tool_marks(sent.tools), *on_system, *_marks(sent.messages)]


def _tool_marks(tools: Sequence[ToolSchema]) -> list[str]:
    return [tool.cache.ttl for tool in tools if tool.cache is not None]


def _minimum(view: View) -> int:
    facts: ModelFacts | None = view.dialect.models.get(view.transcript.model)
    return facts.cache_minimum_tokens if facts is not None else 1024


def _cached_runs(view: View) -> Iterator[Requested]:
    if view.scenario.cache:
        yield from requested(view)


@check("cache/at-most-four-marks")
def at_most_four_marks(view: View) -> Findings:
    """On tools, system text and messages together."""
    for request in _cached_runs(view):
        marks = _all_marks(request.sent)
        if len(marks) > _MOST_MARKS:
            yield violated(
                f"{request.where}: the request has {len(marks)} cache marks; at most {_MOST_MARKS} are taken"
            )
        elif marks:
            yield "cache marks"


@check("cache/history-is-marked")
def history_is_marked(view: View) -> Findings:
    """In a conversation worth caching there is a mark in the messages, not only on system text and tools."""
    for request in _cached_runs(view):
        response = request.exchange.response
        if response is None or response.prompt_tokens < 2 * _minimum(view) or request.call.began.turn < 2:
            continue
        if _marks(request.sent.messages):
            yield "marks in long conversations"
        else:
            yield violated(f"{request.where}: of a prompt of {response.prompt_tokens} tokens no message is marked")


@check("cache/marks-reach-the-wire")
def marks_reach_the_wire(view: View) -> Findings:
    """Every mark that the session set on a tool or a message goes out, with the life that was asked for."""
    for request in requested(view):
        began = request.call.began
        held = Counter(_tool_marks(began.tools) + _marks(began.messages))
        sent = Counter(_tool_marks(request.sent.tools) + _marks(request.sent.messages))
        if not held:
            continue
        lost = held - sent
        if lost:
            yield violated(f"{request.where}: the session set marks {dict(held)}, the wire carried {dict(sent)}")
        else:
            yield "marks"


def _steady(view: View) -> Iterator[tuple[Answered, Answered]]:
    """Neighbouring answers between which nothing happened that rightly voids a cache.

    Once a prompt was too long, the session knows the limit, and may collect ahead of any turn.
    """
    refused = next((call.began.turn for call in view.calls if makes_room(call)), len(view.turns))
    for before, after in pairwise(answered(view)):
        first, last = before.call.began.turn, after.call.began.turn
        if last >= refused:
            return
        quiet = all(_is_quiet(turn, first, last) for turn in view.turns if first <= turn.index <= last)
        if quiet and _settings(before) == _settings(after):
            yield before, after


def _settings(one: Answered) -> tuple[object, ...]:
    """What stands beside the messages of a request."""
    return one.call.began.system, one.call.began.tools, one.call.began.response_schema


def _is_quiet(turn: TurnView, first: int, last: int) -> bool:
    """Whether a turn between two answers, or that of one of them, leaves the history and the cache as they were."""
    script, ended = turn.script, turn.ended
    if script is None or (turn.index > first and (script.before or script.advance_clock or turn.rewritten)):
        return False
    # What a failed turn had said is taken back.
    return turn.index == last or (ended is not None and ended.outcome != "error")


def _shows(one: Answered) -> bool:
    """Whether there is an image anywhere in the request: the first one voids what was stored of the messages."""
    media: list[Part] = [part for message in one.call.began.messages for part in message.parts]
    media += [each for part in media if isinstance(part, ToolResult) for each in part.attachments]
    return any(isinstance(part, InlineData | FileRef) and part.mime_type.startswith("image/") for part in media)


@check("cache/reads-grow-with-the-history")
def reads_grow_with_the_history(view: View) -> Findings:
    """What one request read or stored, the next one reads; in the end more is read than in the beginning."""
    stretches: list[list[int]] = []
    newest: Answered | None = None
    for before, after in _steady(view) if view.scenario.cache else ():
        if before is not newest:
            stretches.append([])  # something came between that rightly voids a cache
        newest = after
        if before.wire.usage is None or after.wire.usage is None or _shows(before) != _shows(after):
            continue
        read, now = before.wire.usage.cache_read_tokens, after.wire.usage.cache_read_tokens
        stored = before.wire.usage.cache_creation_tokens
        if not read and not stored:
            continue
        if now < read or not now:
            yield violated(
                f"{after.where}: the request before had {read} tokens read and {stored} stored, this one reads {now}"
            )
            return
        stretches[-1].append(now)
        yield "tokens read from the cache"
    for reads in stretches:
        if len(reads) >= 4 and reads[-1] <= reads[0]:
            yield violated(
                f"over {len(reads)} requests the tokens read from the cache stayed at {reads[-1]}: no history is cached"
            )


@check("cache/tool-order-is-stable")
def tool_order_is_stable(view: View) -> Findings:
    """The same tools go out in the same order, in whatever order the session lists them."""
    orders: dict[frozenset[str], tuple[str, ...]] = {}
    for request in requested(view):
        order = tuple(tool.name for tool in request.sent.tools)
        if len(order) < 2:
            continue
        known = orders.setdefault(frozenset(order), order)
        if known == order:
            yield "orders of tools"
        else:
            yield violated(f"{request.where}: the tools went out as {list(order)}, earlier as {list(known)}")


@check("cache/prefix-is-stable")
def prefix_is_stable(view: View) -> Findings:
    """Each request begins with the request before it; only collecting history, or other settings, may change that."""
    for before, after in _steady(view):
        first, second = before.call.sent, after.call.sent
        if first is None or second is None:
            continue
        start = _prefix(first, begun(first.messages))
        whole = _prefix(second, row(second.messages)[: len(start["messages"])])
        found = differences(start, whole, names=("before", "now"))
        if found:
            yield violated(f"{after.where}: the start of the request changed: {found[0]}", detail="\n".join(found))
        else:
            yield "starts of requests"


def _prefix(sent: Call, messages: list[JSON]) -> JSON:
    # Old thinking may be left out; everything else that was sent once stays where it was.
    return {"tools": _tools(sent.tools), "system": system_text(sent), "messages": messages}


def _tools(tools: Sequence[ToolSchema]) -> JSON:
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]
