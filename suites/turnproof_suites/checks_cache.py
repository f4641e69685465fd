"""Prompt caching: what was paid for once is found again, because the start of the conversation never changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from turnproof.dialects.base import ModelFacts
from turnproof.judge.finding import Compared, Place, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import TurnView, View
from turnproof.judge.view.diff import Steps
from turnproof.messages import JSON, FileRef, InlineData, Message, Part, ToolResult, ToolSchema

from .content import system_text
from .context_room import makes_room, outgrew_window
from .part_rows import at_row, continued_row, part_row, value_differences
from .reading import AnsweredCall, ReadRequest, answered_calls, read_requests

_MOST_MARKS = 4


def _marked_parts(messages: Iterable[Message]) -> Iterator[tuple[Steps, str]]:
    """Where all marks in some messages stand, those in tool results included, and the life of each."""
    for number, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if part.cache is not None:
                yield (number, "parts", place), part.cache.ttl
            for nth, one in enumerate(part.attachments if isinstance(part, ToolResult) else ()):
                if one.cache is not None:
                    yield (number, "parts", place, "attachments", nth), one.cache.ttl


def _marks(messages: Iterable[Message]) -> list[str]:
    """The lives of all marks in some messages."""
    return [life for _, life in _marked_parts(messages)]


def _tool_marks(tools: Sequence[ToolSchema]) -> list[str]:
    return [tool.cache.ttl for tool in tools if tool.cache is not None]


def _at_marks(request: ReadRequest) -> list[Steps]:
    """Where the marks of a request stand: on tools, on system text, in messages."""
    sent = request.wire
    found: list[Steps] = [("tools", n) for n, tool in enumerate(sent.tools) if tool.cache is not None]
    found += [("system", n) for n, part in enumerate(sent.system) if part.cache is not None]
    return [*found, *(("messages", *steps) for steps, _ in _marked_parts(sent.messages))]


def _minimum(view: View) -> int:
    facts: ModelFacts | None = view.dialect.models.get(view.transcript.model)
    return facts.cache_minimum_tokens if facts is not None else 1024


def _cached_runs(view: View) -> Iterator[ReadRequest]:
    if view.scenario.cache:
        yield from read_requests(view)


_TOO_MANY = finding(
    "cache/at-most-four-marks/too-many",
    "The request has more cache marks than the API takes.",
    "at most {expected} cache marks",
    "{observed}",
)


@check("cache/at-most-four-marks")
def at_most_four_marks(view: View) -> Findings:
    """On tools, system text and messages together. The first ones in the messages are those too many: the marks of a
    growing history move on with it, and these stayed behind."""
    for request in _cached_runs(view):
        marks = _at_marks(request)
        if len(marks) > _MOST_MARKS:
            first = next((steps for steps in marks if steps[0] == "messages"), marks[_MOST_MARKS])
            related = [request.at(*steps, "cache") for steps in marks if steps != first]
            yield _TOO_MANY(request.at(*first, "cache"), expected=_MOST_MARKS, observed=len(marks), related=related)
        elif marks:
            yield Compared("cache marks")


_HISTORY_UNMARKED = finding(
    "cache/history-is-marked/missing",
    "No message of a long conversation has a cache mark.",
    "a cache mark in the messages of a prompt of {tokens} tokens",
    "none",
)


@check("cache/history-is-marked")
def history_is_marked(view: View) -> Findings:
    """In a conversation worth caching there is a mark in the messages, not only on system text and tools."""
    for request in _cached_runs(view):
        response = request.exchange.response
        if response is None or response.prompt_tokens < 2 * _minimum(view) or request.call.began.turn < 2:
            continue
        if _marks(request.wire.messages):
            yield Compared("marks in long conversations")
        else:
            yield _HISTORY_UNMARKED(_at_last_block(request), tokens=response.prompt_tokens)


def _at_last_block(request: ReadRequest) -> Place:
    """The end of the conversation, where a mark stores all of it; the messages where they say nothing."""
    last = next((message.parts[-1] for message in reversed(request.wire.messages) if message.parts), None)
    return request.at("messages") if last is None else request.at_part(last)


_MARKS_LOST = finding(
    "cache/marks-reach-the-wire/lost",
    "A cache mark of the session is missing from the request.",
    "{expected} cache marks with the life {life}",
    "{observed}",
)


@check("cache/marks-reach-the-wire", needs="calls")
def marks_reach_the_wire(view: View) -> Findings:
    """Every mark that the session set on a tool or a message goes out, with the life that was asked for."""
    for request in read_requests(view):
        began = request.call.began
        on_tools = Counter(_tool_marks(began.tools))
        session_marks = on_tools + Counter(_marks(began.messages))
        sent_on_tools = Counter(_tool_marks(request.wire.tools))
        sent = sent_on_tools + Counter(_marks(request.wire.messages))
        if not session_marks:
            continue
        lost_marks = session_marks - sent
        for life in lost_marks:
            place = request.at("tools" if on_tools[life] > sent_on_tools[life] else "messages")
            marked = [
                request.call.at(Side.HISTORY, *steps) for steps, one in _marked_parts(began.messages) if one == life
            ]
            yield _MARKS_LOST(place, expected=session_marks[life], observed=sent[life], life=life, related=marked)
        if not lost_marks:
            yield Compared("marks")


def _steady(view: View) -> Iterator[tuple[AnsweredCall, AnsweredCall]]:
    """Neighbouring answers between which nothing happened that rightly voids a cache.

    Once a prompt was too long, the session knows the limit, and may collect ahead of any turn. One that was told how
    much the model takes knows it from the beginning.
    """
    refused = next((call.began.turn for call in view.calls if makes_room(call)), len(view.turns))
    for before, after in pairwise(answered_calls(view)):
        first, last = before.call.began.turn, after.call.began.turn
        if last >= refused:
            return
        quiet = all(_is_quiet(turn, first, last) for turn in view.turns if first <= turn.index <= last)
        if not quiet or _settings(before) != _settings(after):
            continue
        if not outgrew_window(view, before.call.began.messages, after.call):
            yield before, after


def _settings(one: AnsweredCall) -> tuple[object, ...]:
    """What stands beside the messages of a request."""
    return one.call.began.system, one.call.began.tools, one.call.began.response_schema


def _is_quiet(turn: TurnView, first: int, last: int) -> bool:
    """Whether a turn between two answers, or that of one of them, leaves the history and the cache as they were."""
    script, ended = turn.script, turn.ended
    if script is None or (turn.index > first and (script.before or script.advance_clock or turn.rewritten)):
        return False
    # What a failed turn had said is taken back.
    return turn.index == last or (ended is not None and ended.outcome != "error")


def _has_image(one: AnsweredCall) -> bool:
    """Whether there is an image anywhere in the request: the first one voids what was stored of the messages."""
    media: list[Part] = [part for message in one.call.began.messages for part in message.parts]
    media += [each for part in media if isinstance(part, ToolResult) for each in part.attachments]
    return any(isinstance(part, InlineData | FileRef) and part.mime_type.startswith("image/") for part in media)


_READ_LESS = finding(
    "cache/reads-grow-with-the-history/less-read",
    "A request reads less from the cache than the one before it has read or stored.",
    "at least {expected} tokens read from the cache, after a request that read {read} and stored {stored}",
    "{observed}",
)
_NO_GROWTH = finding(
    "cache/reads-grow-with-the-history/no-growth",
    "The tokens that are read from the cache do not grow with the history.",
    "more than {expected} tokens read from the cache at the end of {requests} requests",
    "{observed}",
)


@check("cache/reads-grow-with-the-history")
def reads_grow_with_the_history(view: View) -> Findings:
    """What one request read or stored, the next one reads; in the end more is read than in the beginning."""
    stretches: list[list[int]] = []
    newest: AnsweredCall | None = None
    last: dict[int, AnsweredCall] = {}
    for before, after in _steady(view) if view.scenario.cache else ():
        if before is not newest:
            stretches.append([])  # something came between that rightly voids a cache
        newest = after
        if before.wire.usage is None or after.wire.usage is None or _has_image(before) != _has_image(after):
            continue
        read, now = before.wire.usage.cache_read_tokens, after.wire.usage.cache_read_tokens
        stored = before.wire.usage.cache_creation_tokens
        if not read and not stored:
            continue
        if now < read or not now:
            related = [before.at_usage(), after.call.at_request()]
            yield _READ_LESS(
                after.at_usage(), expected=read or 1, observed=now, read=read, stored=stored, related=related
            )
            return
        stretches[-1].append(now)
        last[len(stretches) - 1] = after
        yield Compared("tokens read from the cache")
    for number, reads in enumerate(stretches):
        if len(reads) >= 4 and reads[-1] <= reads[0]:
            end = last[number]
            mark = _at_last_mark(end)
            place, other = (end.at_usage(), end.call.at_request()) if mark is None else (mark, end.at_usage())
            yield _NO_GROWTH(place, expected=reads[0], observed=reads[-1], requests=len(reads), related=[other])


def _at_last_mark(one: AnsweredCall) -> Place | None:
    """The last mark of a request, up to which the API stores it; None where nothing is marked, as in dialects whose API
    finds the prefix by itself."""
    request = _request_of(one)
    marks = _at_marks(request) if request is not None else []
    return request.at(*marks[-1], "cache") if request is not None and marks else None


_TOOL_ORDER = finding(
    "cache/tool-order-is-stable/order",
    "The same tools go out in another order than before.",
    "the tools in the order {expected}",
    "{observed}",
)


@check("cache/tool-order-is-stable")
def tool_order_is_stable(view: View) -> Findings:
    """The same tools go out in the same order, in whatever order the session lists them."""
    first: dict[frozenset[str], tuple[tuple[str, ...], ReadRequest]] = {}
    for request in read_requests(view):
        order = tuple(tool.name for tool in request.wire.tools)
        if len(order) < 2:
            continue
        known, earlier = first.setdefault(frozenset(order), (order, request))
        if known == order:
            yield Compared("orders of tools")
        else:
            moved = next((n for n, pair in enumerate(zip(order, known, strict=False)) if pair[0] != pair[1]), 0)
            place = request.at("tools", moved, "name")
            yield _TOOL_ORDER(place, expected=known, observed=order, related=[earlier.at("tools")])


_PREFIX_CHANGED = finding(
    "cache/prefix-is-stable/changed",
    "The start of the request is not that of the request before.",
    "{expected}, as in the request before",
    "{observed}",
)


@check("cache/prefix-is-stable")
def prefix_is_stable(view: View) -> Findings:
    """Each request begins with the request before it; only collecting history, or other settings, may change that."""
    for before, after in _steady(view):
        first, second = _request_of(before), _request_of(after)
        if first is None or second is None:
            continue
        start = _prefix(first, continued_row(first.wire.messages))
        prefix = _prefix(second, part_row(second.wire.messages)[: len(start["messages"])])
        wrong = list(value_differences(start, prefix))
        for one in wrong:
            yield _PREFIX_CHANGED(
                _at_prefix(second, one.steps),
                expected=one.expected,
                observed=one.observed,
                related=[_at_prefix(first, one.steps)],
            )
        if not wrong:
            yield Compared("starts of requests")


def _request_of(one: AnsweredCall) -> ReadRequest | None:
    exchange, sent = one.call.last, one.call.sent
    return None if exchange is None or sent is None else ReadRequest(one.call, exchange, sent)


def _at_prefix(request: ReadRequest, steps: Steps) -> Place:
    """The place in a request's body of what stands at these steps in its prefix."""
    if steps[:1] == ("messages",):
        return at_row(request.exchange, steps[1:])
    return request.at(*steps)


def _prefix(request: ReadRequest, messages: list[JSON]) -> JSON:
    # Old thinking may be left out; everything else that was sent once stays where it was.
    return {"tools": _tools(request.wire.tools), "system": system_text(request.wire), "messages": messages}


def _tools(tools: Sequence[ToolSchema]) -> JSON:
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]
