"""What many checks read from a run: answers as both sides saw them, and requests in neutral form, with their places.

Nothing here accuses anybody. What parts and messages say is in `content.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from msgspec.structs import replace as changed

from turnproof import messages as m
from turnproof.dialects.base import Call, Evidence, WireAnswer
from turnproof.dialects.call_pairing import pair_calls, with_held_ids
from turnproof.dialects.pictures import with_held_pictures
from turnproof.judge.finding import Finding, Place, Side, pointer
from turnproof.judge.requirements import FindingCode
from turnproof.judge.view import Exchange, ProviderCall, TurnView, View, broken_rule
from turnproof.judge.view.diff import Steps
from turnproof.judge.view.plain_content import plain
from turnproof.judge.view.provenance import neutral_path
from turnproof.run.transcript import UsageUpdate

from .content import calls_in, spoken_text
from .part_rows import place_in_row

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call to which the wire carried a whole, undisturbed answer, and which returned a response."""

    call: ProviderCall
    wire: WireAnswer
    response: m.ProviderResponse

    def at(self, *tokens: str | int) -> Place:
        """The place in what the adapter returned (`"usage", "prompt_tokens"`)."""
        return self.call.at(Side.RESPONSE, *tokens)

    def at_part(self, part: m.Part, *field: str | int) -> Place:
        """The place of a part of `response`, or of a field of it."""
        number = next((n for n, one in enumerate(self.response.parts) if one is part), None)
        return self.at("parts") if number is None else self.at("parts", number, *field)

    def at_wire(self, part: m.Part | None = None) -> Place:
        """The event of the answer that completed a part of `wire`; the whole answer without one."""
        exchange = self.call.last
        assert exchange is not None, "there was an answer"
        return exchange.at(Side.STREAM) if part is None else exchange.at_part(part)

    def at_usage(self) -> Place:
        """The event of the answer that completed the usage of `wire`."""
        exchange = self.call.last
        assert exchange is not None, "there was an answer"
        return exchange.at_usage()

    def at_text(self, text: str) -> Place:
        """The place where the visible text of `response` first differs from `text`; its end where that goes on."""
        part = _differing_text(self.response.parts, text)
        return self.at("parts") if part is None else self.at_part(part, "text")

    def at_wire_text(self, text: str) -> Place:
        """The event that completed the text of `wire` in which it first differs from `text`."""
        return self.at_wire(_differing_text(self.wire.parts, text))


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request for an answer that the dialect could read, with the call it was made for."""

    call: ProviderCall
    exchange: Exchange
    wire: Call

    @property
    def where(self) -> str:
        """The place of the request, for messages."""
        return self.call.where

    @property
    def session_messages(self) -> Sequence[m.Message]:
        """What the session gave the adapter to send."""
        return self.call.began.messages

    def at(self, *path: str | int) -> Place:
        """The place in the request's body of what was read from it (`"messages", 3`); see `Exchange.at_read`."""
        return self.exchange.at_read(*path) if path else self.exchange.at()

    def at_part(self, part: m.Part, *field: str | int) -> Place:
        """The place in the request's body of a part of `wire`, or of a field of it (`"result"`)."""
        found = _position(self.wire.messages, part)
        return self.exchange.at() if found is None else self.exchange.at_read("messages", *found, *field)

    def at_session(self, part: m.Part | m.Message, *field: str | int) -> Place:
        """The place of a message of `session_messages`, of a part of one, or of a field of it."""
        for number, message in enumerate(self.session_messages):
            if message is part:
                return self.call.at(Side.HISTORY, number, *field)
        found = _position(self.session_messages, part)
        return self.call.at(Side.HISTORY) if found is None else self.call.at(Side.HISTORY, *found, *field)

    def at_row(self, steps: Steps) -> Place:
        """The place in the request's body of what stands at these steps in the `part_row` of its messages."""
        found = place_in_row(self.wire.messages, steps)
        return self.at("messages") if found is None else self.at("messages", *found)

    def at_session_path(self, path: str) -> Place | None:
        """The place of what a dialect names as `$.messages[1].parts[0].args`; None for what is in no message held."""
        steps = neutral_path(path)
        return self.call.at(Side.HISTORY, *steps[1:]) if steps[:1] == ("messages",) else None

    def at_wire_message(self, session_message: m.Message | m.ProviderResponse) -> Place:
        """The place of the parts of the message that carries what was held; of all messages where none does."""
        expected = [form for message in plain([m.Message("user", session_message.parts)]) for form in message["parts"]]
        best: tuple[int, int] | None = None
        for n, message in enumerate(self.wire.messages):
            forms = [form for one in plain([m.Message("user", message.parts)]) for form in one["parts"]]
            alike = sum(form in forms for form in expected)
            if alike and (best is None or alike >= best[0]):
                best = alike, n
        return self.at("messages") if best is None else self.at("messages", best[1])

    def at_results_of(self, call: m.FunctionCall) -> Place:
        """The place in the request's body that should hold the result of a call of `wire`: the results right behind
        the message that called; all messages where it has none."""
        messages = self.wire.messages
        found = _position(messages, call)
        place = None if found is None else found[0] + 1
        if place is None or not any(message.results for message in messages[place : place + 1]):
            return self.at("messages")
        return self.at("messages", place)

    def at_tool(self, name: str, *field: str | int) -> Place:
        """The place in the request's body of the tool with this name on the wire; of all tools where there is none."""
        number = next((n for n, tool in enumerate(self.wire.tools) if tool.name == name), None)
        return self.at("tools") if number is None else self.at("tools", number, *field)


def _differing_text(parts: Iterable[m.Part], other: str) -> m.Text | None:
    """The text part in which the visible text first differs from another one; the last where only that goes on."""
    texts = [part for part in parts if isinstance(part, m.Text) and part.text.strip()]
    own = spoken_text(texts)
    left = next((n for n, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), min(len(own), len(other)))
    for part in texts:
        if left < len(part.text) or part is texts[-1]:
            return part
        left -= len(part.text)
    return None


def _position(messages: Sequence[m.Message], part: object) -> tuple[int, str, int] | None:
    """Where a part stands: `(3, "parts", 1)`. The part itself, not its equal."""
    for number, message in enumerate(messages):
        for place, one in enumerate(message.parts):
            if one is part:
                return number, "parts", place
    return None


def once_per_view(read: Callable[[View], _T]) -> Callable[[View], _T]:
    """Most checks read the same things from the same run: they are read once, and forgotten with the view."""
    known: WeakKeyDictionary[View, _T] = WeakKeyDictionary()

    @wraps(read)
    def remembered(view: View) -> _T:
        if view not in known:
            known[view] = read(view)
        return known[view]

    return remembered


@once_per_view
def answered_calls(view: View) -> tuple[AnsweredCall, ...]:
    """The calls that got a whole answer and returned; cut and faulty ones are not among them."""
    ended = ((call, call.answer, call.response) for call in view.calls)
    return tuple(
        AnsweredCall(call, _with_ids_of(wire, response), response)
        for call, wire, response in ended
        if wire is not None and response is not None and response.finish_reason is not m.FinishReason.CANCELLED
    )


@once_per_view
def read_requests(view: View) -> tuple[ReadRequest, ...]:
    """All requests for an answer that could be read, repeated attempts included."""
    return tuple(request for call in view.calls for request in requests_of(view, call))


def requests_with_schema(view: View) -> Iterator[tuple[ReadRequest, Mapping[str, Any]]]:
    """Those of calls that asked for an answer in the form of a schema, with that schema."""
    for request in read_requests(view):
        if (schema := request.call.began.response_schema) is not None:
            yield request, schema


def requests_of(view: View, call: ProviderCall) -> Iterator[ReadRequest]:
    """The readable requests of a call; none where it is unknown which messages the call was given.

    They have the session's ids on tool calls and their results, and its images where the same pictures were sent in
    other bytes.
    """
    for exchange in call.generated if call.knows_messages else ():
        if exchange.call is not None:
            sent = exchange.call
            session_messages = call.began.messages
            messages = with_held_pictures(
                with_held_ids(sent.messages, session_messages, issued_ids(view)), session_messages
            )
            yield ReadRequest(call, exchange, replace(sent, messages=messages))


def names_on_the_wire(view: View, last: ReadRequest) -> dict[str, str]:
    """Session name -> wire name of each tool in the definitions of a request, or in the latest ones before it: in the
    history a tool that is gone keeps its name."""
    names: dict[str, str] = {}
    for request in read_requests(view):
        names |= request.call.wire_names
        if request is last:
            break
    return names


@once_per_view
def issued_ids(view: View) -> Mapping[str, str]:
    """The service's id of each tool call that the adapter returned under another one, by the latter."""
    issued: dict[str, str] = {}
    for call in view.calls:
        if call.answer is not None and call.response is not None:
            pairs = pair_calls(call.response.calls, calls_in(call.answer.parts))
            issued |= {ours.id: theirs.id for ours, theirs in pairs if theirs.id not in ("", ours.id)}
    return issued


def _with_ids_of(wire: WireAnswer, response: m.ProviderResponse) -> WireAnswer:
    """The answer with the adapter's own ids on its calls, as far as these tell one call from another."""
    names = Counter(call.id for call in response.calls)
    own = {
        id(theirs): ours.id
        for ours, theirs in pair_calls(response.calls, calls_in(wire.parts))
        if ours.id and names[ours.id] == 1
    }
    parts = (
        changed(part, id=own.get(id(part), part.id)) if isinstance(part, m.FunctionCall) else part
        for part in wire.parts
    )
    return replace(wire, parts=tuple(parts)) if own else wire


def first_requests(view: View) -> Iterator[tuple[TurnView, ReadRequest]]:
    """The first request of every turn that made one."""
    for turn in view.turns:
        request = next((request for call in turn.calls for request in requests_of(view, call)), None)
        if request is not None:
            yield turn, request


def usage_updates(call: ProviderCall) -> tuple[UsageUpdate, ...]:
    """What `on_usage_update` was called with, in order."""
    return tuple(event for event in call.callbacks if isinstance(event, UsageUpdate))


def at_response_text(call: ProviderCall, response: m.ProviderResponse) -> Place:
    """The text of a response where it has one part alone, otherwise all its parts."""
    texts = [number for number, part in enumerate(response.parts) if isinstance(part, m.Text)]
    return call.at(Side.RESPONSE, "parts", *((texts[0], "text") if len(texts) == 1 else ()))


def by_place(view: View, read: Iterable[tuple[ProviderCall, m.JSON]]) -> m.JSON:
    """Readings keyed by place, with ids replaced by aliases: the usual form of an aspect. None when there are none.

    A path that cannot go on after a paused answer ends its turn there, so nothing is compared from there on.
    """
    comparable = set(map(id, view.comparable))
    found = {call.place: view.aliases.within(value) for call, value in read if id(call) in comparable}
    return found or None


def refusal_finding(code: FindingCode, exchange: Exchange, refusal: Mapping[str, m.JSON], **facts: Any) -> Finding:
    """A finding at the place that a rule of the API is about, which the request breaks."""
    return code(exchange.at_rule(refusal), rule=broken_rule(refusal), rests_on=Evidence(refusal["evidence"]), **facts)


def broken_rule_finding(code: FindingCode, exchange: Exchange, refusal: Mapping[str, m.JSON], **facts: Any) -> Finding:
    """The same with the rule's name, and with what the service answers: status, kind and message."""
    answer = {"name": refusal["rule"], "status": refusal["status"], "kind": refusal["kind"]}
    return refusal_finding(code, exchange, refusal, observed=refusal["message"], **answer, **facts)


def at_text(exchange: Exchange, text: str) -> Place:
    """The first string in a request's body that has this text in it; the whole body where none has."""
    return exchange.at(pointer=next(_strings_with(text, exchange.body), ""))


def _strings_with(text: str, value: m.JSON, *steps: str | int) -> Iterator[str]:
    if isinstance(value, str):
        yield from [pointer(*steps)] if text in value else []
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings_with(text, item, *steps, key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _strings_with(text, item, *steps, number)
