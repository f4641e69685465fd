"""What many checks read from a run: answers as both sides saw them, requests in neutral form, texts and calls.

Nothing here accuses anybody. Where adapters may rightly differ (text in one part or in several, blank text kept or
left out) the readings are made equal first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from msgspec.structs import replace as changed

from turnproof.dialects.base import Call, Dialect, WireAnswer
from turnproof.errors import ContextLimitError
from turnproof.messages import (
    JSON,
    FinishReason,
    FunctionCall,
    Message,
    Part,
    ProviderResponse,
    Text,
    Thought,
    ToolResult,
)
from turnproof.view import Exchange, ProviderCall, TurnView, View
from turnproof.view.plain import plain as plain

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Answered:
    """A call to which the wire carried a whole, undisturbed answer, and which returned a response."""

    call: ProviderCall
    wire: WireAnswer
    response: ProviderResponse

    @property
    def where(self) -> str:
        """The place of the call, for messages."""
        return self.call.where


@dataclass(frozen=True, slots=True)
class Requested:
    """A request for an answer that the dialect could read, with the call it was made for."""

    call: ProviderCall
    exchange: Exchange
    sent: Call

    @property
    def where(self) -> str:
        """The place of the request, for messages."""
        return self.call.where

    @property
    def held(self) -> Sequence[Message]:
        """What the session gave the adapter to send."""
        return self.call.began.messages


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
def answered(view: View) -> tuple[Answered, ...]:
    """The calls that got a whole answer and returned; cut and faulty ones are not among them."""
    ended = ((call, call.answer, call.response) for call in view.calls)
    return tuple(
        Answered(call, _with_ids_of(wire, response), response)
        for call, wire, response in ended
        if wire is not None and response is not None and response.finish_reason is not FinishReason.CANCELLED
    )


@once_per_view
def requested(view: View) -> tuple[Requested, ...]:
    """All requests for an answer that could be read, repeated attempts included."""
    return tuple(
        Requested(call, exchange, _with_held_ids(view.dialect, exchange.call, call.began.messages))
        for call in view.calls
        for exchange in call.generated
        if exchange.call is not None
    )


def _with_ids_of(wire: WireAnswer, response: ProviderResponse) -> WireAnswer:
    """The answer with the adapter's own ids on calls that came without one; it had to make some up."""
    made_up = iter(response.calls)
    parts = []
    for part in wire.parts:
        if isinstance(part, FunctionCall):
            own = next(made_up, None)
            part = part if part.id or own is None else changed(part, id=own.id)
        parts.append(part)
    return replace(wire, parts=tuple(parts))


def _with_held_ids(dialect: Dialect, sent: Call, held: Sequence[Message]) -> Call:
    """The request with the session's ids on calls, and on their results, that went out without one.

    Where calls have no ids on the wire, their order is what says which is which.
    """
    own: dict[str, str] = {}
    for mine, theirs in zip(calls_made(held), calls_made(sent.messages), strict=False):
        if dialect.is_positional(theirs.id):
            own[theirs.id] = mine.id
    if not own:
        return sent
    return replace(sent, messages=tuple(_renamed(message, own) for message in sent.messages))


def _renamed(message: Message, own: Mapping[str, str]) -> Message:
    def one(part: Part) -> Part:
        match part:
            case FunctionCall(id=known) if known in own:
                return changed(part, id=own[known])
            case ToolResult(call_id=known) if known in own:
                return changed(part, call_id=own[known])
        return part

    return changed(message, parts=tuple(map(one, message.parts)))


def first_requests(view: View) -> Iterator[tuple[TurnView, Requested]]:
    """The first request of every turn that made one."""
    for turn in view.turns:
        found = (
            Requested(call, exchange, exchange.call)
            for call in turn.calls
            for exchange in call.generated
            if exchange.call is not None
        )
        request = next(found, None)
        if request is not None:
            yield turn, request


def spoken_text(parts: Iterable[Part]) -> str:
    """All visible text. Blank text parts are left out: an adapter may keep or drop them."""
    return "".join(part.text for part in parts if isinstance(part, Text) and part.text.strip())


def calls_in(parts: Iterable[Part]) -> tuple[FunctionCall, ...]:
    """The tool calls in order."""
    return tuple(part for part in parts if isinstance(part, FunctionCall))


def thoughts_in(parts: Iterable[Part]) -> tuple[Thought, ...]:
    """The thoughts in order."""
    return tuple(part for part in parts if isinstance(part, Thought))


def results_in(messages: Iterable[Message]) -> tuple[ToolResult, ...]:
    """All tool results of some messages, in order."""
    return tuple([part for message in messages for part in message.parts if isinstance(part, ToolResult)])


def calls_made(messages: Iterable[Message]) -> tuple[FunctionCall, ...]:
    """All tool calls of some messages, in order."""
    return tuple([part for message in messages for part in message.parts if isinstance(part, FunctionCall)])


def user_text(messages: Iterable[Message]) -> str:
    """Everything that users said, with a border between texts."""
    return "\n\x00".join(
        part.text for message in messages if message.role == "user" for part in message.parts if isinstance(part, Text)
    )


def in_two_roles(messages: Sequence[Message]) -> list[Message]:
    """Instructions between turns in the user's name, beside what else the user says: some APIs know no other place."""
    found: list[Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if found and role == "user" == found[-1].role:
            message = Message("user", (*found.pop().parts, *message.parts), message.message_id)
        found.append(Message(role, message.parts, message.message_id))
    return found


def row(messages: Iterable[Message]) -> list[JSON]:
    """A conversation as one row of parts, each with its role: on a wire that joins neighbours, messages say nothing."""
    return [{"role": message["role"], **part} for message in plain(messages) for part in message["parts"]]


def begun(messages: Iterable[Message]) -> list[JSON]:
    """The row of a request as a later one begins: without a text of the model at its end, which was paused there."""
    parts = row(messages)
    return parts[:-1] if parts and parts[-1]["role"] == "model" else parts


def heard(turn: TurnView, messages: Iterable[Message]) -> bool:
    """Whether every text that the user said in a turn stands among what users said."""
    told = user_text(messages)
    parts = turn.script.user if turn.script is not None else ()
    return all(part.text in told for part in parts if isinstance(part, Text) and part.text.strip())


def model_texts(messages: Iterable[Message]) -> list[str]:
    """The visible text of every model message that has some."""
    texts = (spoken_text(message.parts) for message in messages if message.role == "model")
    return [text for text in texts if text]


def system_text(call: Call) -> str:
    """All instructions of a request, in its system field or in system messages."""
    texts = [part.text for part in call.system if isinstance(part, Text)]
    texts += [message.text for message in call.messages if message.role == "system"]
    return "\n".join(texts)


def shape(parts: Iterable[Part]) -> list[str]:
    """The order of text and calls: `["text", "call", "call"]`; neighbouring texts count once."""
    kinds: list[str] = []
    for part in parts:
        if isinstance(part, FunctionCall):
            kinds.append("call")
        elif isinstance(part, Text) and part.text.strip() and kinds[-1:] != ["text"]:
            kinds.append("text")
    return kinds


def by_place(view: View, read: Iterable[tuple[ProviderCall, JSON]]) -> JSON:
    """Readings keyed by place, with ids replaced by aliases: the usual form of an aspect. None when there are none.

    A path that cannot go on after a paused answer ends its turn there, so nothing is compared from there on.
    """
    comparable = set(map(id, view.comparable))
    found = {call.place: view.aliases.within(value) for call, value in read if id(call) in comparable}
    return found or None


def excerpt(exchange: Exchange | None, limit: int = 1200) -> str:
    """The start of what the wire carried, for a verdict's detail."""
    if exchange is None or exchange.response is None:
        return ""
    text = exchange.response.data.decode("utf-8", "replace")
    return text if len(text) <= limit else text[:limit] + f"\n... ({len(text) - limit} more characters)"


def too_long(exchange: Exchange | None) -> bool:
    """Whether the API's answer says that the prompt does not fit its window."""
    return exchange is not None and exchange.error_meaning == "context-limit"


def makes_room(call: ProviderCall) -> bool:
    """Whether the session may rightly collect history because of this call.

    A request of too many bytes (413) is no prompt of too many tokens, but an adapter may say that less would do.
    """
    raised = {call.failed.error, *call.failed.bases} if call.failed is not None else set()
    return too_long(call.last) or ContextLimitError.__name__ in raised


def matched_results(held: Iterable[Message], sent: Iterable[Message]) -> Iterator[tuple[ToolResult, ToolResult]]:
    """The results of the session, each with its counterpart on the wire; ids may come again in later turns."""
    yield from _matched(results_in(held), results_in(sent), lambda result: result.call_id)


def matched_calls(held: Iterable[Message], sent: Iterable[Message]) -> Iterator[tuple[FunctionCall, FunctionCall]]:
    """The calls of the session, each with its counterpart on the wire."""
    yield from _matched(calls_made(held), calls_made(sent), lambda call: call.id)


def _matched(held: Iterable[_T], sent: Iterable[_T], name: Callable[[_T], str]) -> Iterator[tuple[_T, _T]]:
    left: dict[str, list[_T]] = {}
    for one in sent:
        left.setdefault(name(one), []).append(one)
    for one in held:
        if left.get(name(one)):
            yield one, left[name(one)].pop(0)
