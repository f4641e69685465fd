"""A conversation that the service keeps, as checks read it: each request with what it goes on from, and what came in
between.

A chain is read from the wire: a request names an answer, and the service's side of the conversation is what that answer
ends. What a request has itself comes behind it. A request may also name a conversation, which takes in each answer that
is given there: it is the head for as long as the newest answer is one of these. One that is still empty is no head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from msgspec import UNSET

from turnproof.dialects.base import WireDifference
from turnproof.judge.finding import Compared, Place, Side
from turnproof.judge.requirements import FindingCode, Findings
from turnproof.judge.view import Exchange, ProviderCall, View
from turnproof.messages import FinishReason, Message
from turnproof.run.transcript import (
    CallBegan,
    Cancelled,
    Collected,
    Failed,
    Loaded,
    Reset,
    Response,
    Reverted,
    Swapped,
    TurnEnded,
)

from .reading import ReadRequest, names_on_the_wire, once_per_view, requests_of

Happening: TypeAlias = Literal[
    "first", "answered", "cancelled", "clipped", "refused", "failed", "turn-failed",
    "collected", "reset", "reverted", "loaded", "swapped", "again",
]  # fmt: skip
"""What came between a request and the answer before it. `again` is a further request of the same call."""

ORDINARY: Final = (frozenset({"first"}), frozenset({"answered"}))
"""Nothing came in between but the answer itself."""

_OPERATIONS: Final[tuple[tuple[type, Happening], ...]] = (
    (Collected, "collected"),
    (Reset, "reset"),
    (Reverted, "reverted"),
    (Swapped, "swapped"),
    (Cancelled, "cancelled"),
)
_ENDINGS: Final[dict[FinishReason, Happening]] = {
    FinishReason.CANCELLED: "cancelled",
    FinishReason.MAX_TOKENS: "clipped",
    FinishReason.REFUSAL: "refused",
    FinishReason.SAFETY: "refused",
}


@dataclass(frozen=True, slots=True)
class Link:
    """A request of the conversation. `newest` is the last answer before it that arrived whole and was returned."""

    view: View
    request: ReadRequest
    since: frozenset[Happening]
    newest: Exchange | None

    @property
    def call(self) -> ProviderCall:
        """The provider call that made the request."""
        return self.request.call

    @property
    def head(self) -> str | None:
        """The id of what the request goes on from, or None."""
        wire = self.request.wire
        return None if wire.in_conversation and not wire.managed_messages else wire.resource

    @property
    def carried(self) -> Sequence[Message]:
        """What the service holds in front of the request."""
        return self.request.wire.messages[: self.request.wire.managed_messages]

    @property
    def own(self) -> Sequence[Message]:
        """What the request has itself."""
        return self.request.wire.messages[self.request.wire.managed_messages :]

    @property
    def ordinary(self) -> bool:
        """Whether it follows an answer that was an answer, or begins the conversation."""
        return self.since in ORDINARY

    @property
    def is_at_hand(self) -> bool:
        """Whether the request can name the newest answer: it is stored, or the connection of both holds it."""
        return self.newest is not None and is_at_hand(self.newest, self.request.exchange)

    @property
    def goes_on(self) -> bool:
        """Whether it follows an ordinary answer and goes on from just that."""
        return self.since == {"answered"} and self.head is not None and self.head in heads_of(self.newest)

    def at_head(self) -> Place:
        """The place in the body that names what the request goes on from; the whole body where nothing does."""
        body = self.request.exchange.body
        members = body.items() if isinstance(body, dict) and self.head is not None else ()
        key = next((key for key, value in members if value in (self.head, {"id": self.head})), None)
        return self.request.exchange.at(*(() if key is None else (Side.REQUEST, key)))

    def differences(self) -> list[WireDifference]:
        """Where the chain and the request together are another conversation than the session's."""
        began, wire = self.call.began, self.request.wire
        model = self.view.transcript.model
        found = self.view.dialect.differences(began.messages, began.system, began.tools, wire, model)
        names = names_on_the_wire(self.view, self.request)
        renamed = (one for one in found if not (one.path.endswith("].name") and names.get(str(one.held)) == one.sent))
        return [one for one in renamed if one.violation and one.what not in ("system", "tools")]

    def losses(self, *kinds: str) -> list[WireDifference]:
        """What the session holds and neither the chain nor the request has; of some kinds, if they are named."""
        found = [one for one in self.differences() if one.what != "invented"]
        return [one for one in found if one.what in kinds] if kinds else found

    def inventions(self) -> list[WireDifference]:
        """What the chain or the request has and the session does not hold."""
        return [one for one in self.differences() if one.what == "invented"]

    def compared(self, code: FindingCode, wrong: Sequence[WireDifference], what: str) -> Findings:
        """A finding for each difference; something was compared where there is none."""
        for one in wrong:
            session_place = self.request.at_session_path(one.path)
            yield code(
                self.request.at(one.sent_path or one.path),
                expected=UNSET if one.held is None else one.held,
                observed=UNSET if one.sent is None else one.sent,
                related=() if session_place is None else (session_place,),
            )
        if not wrong:
            yield Compared(what)


def is_at_hand(earlier: Exchange, later: Exchange) -> bool:
    """Whether the answer of the earlier exchange is one that the later request can name."""
    call = earlier.call
    if call is None:
        return False
    one_connection = earlier.request.connection == later.request.connection
    return call.kept_answer or (call.connection_holds and one_connection)


def name_of(exchange: Exchange | None) -> str | None:
    """The id of the answer that an exchange began to give; None where it gave none."""
    answer = exchange.answer if exchange is not None else None
    return answer.names[0] if answer is not None and answer.names else None


def heads_of(exchange: Exchange | None) -> tuple[str, ...]:
    """What a later request may name to go on from the answer that an exchange gave: its id, or its conversation."""
    name = name_of(exchange)
    if exchange is None or exchange.call is None or name is None:
        return ()
    conversation = exchange.call.resource if exchange.call.in_conversation else None
    return (name,) if conversation is None else (name, conversation)


@once_per_view
def links(view: View) -> tuple[Link, ...]:
    """The requests of the conversation in order, those of its children left out."""
    return tuple(_links(view))


def _links(view: View) -> Iterator[Link]:
    calls = {call.index: call for call in view.calls}
    since: set[Happening] = {"first"}
    newest: Exchange | None = None
    for event in view.transcript.events:
        if event.probe:
            continue
        since |= {word for kind, word in _OPERATIONS if isinstance(event, kind)}
        match event:
            case CallBegan(call=index) if index in calls:
                first = next((one for one in calls[index].exchanges if one.generates), None)
                for request in requests_of(view, calls[index]):
                    again: set[Happening] = set() if request.exchange is first else {"again"}
                    yield Link(view, request, frozenset(since | again), newest)
            case Response(call=index, response=response) if index in calls:
                since = {_ENDINGS.get(response.finish_reason, "answered")}
                if response.finish_reason is not FinishReason.CANCELLED:
                    newest = calls[index].last
            case Failed(scope="call", call=index) if index in calls:
                since.add("failed")
            case TurnEnded(outcome="error"):
                since.add("turn-failed")
            case Loaded(damaged=False):
                since.add("loaded")


def cut_names(view: View, link: Link) -> dict[str, Exchange]:
    """The ids of earlier answers that were cancelled, with their exchanges."""
    return _earlier(view, link, lambda call, one: one.held or _was_cancelled(call))


def broken_names(view: View, link: Link) -> dict[str, Exchange]:
    """The ids of earlier answers that broke off or failed, with their exchanges.

    The emulator may give a repeated request the same id again: an answer that was then complete is not broken.
    """
    broken = _earlier(view, link, lambda call, one: not (one.clean or one.held or _was_cancelled(call)))
    whole = _earlier(view, link, lambda call, one: one.clean)
    return {name: one for name, one in broken.items() if name not in whole}


def _was_cancelled(call: ProviderCall) -> bool:
    return call.response is not None and call.response.finish_reason is FinishReason.CANCELLED


def _earlier(view: View, link: Link, is_wanted: Callable[[ProviderCall, Exchange], bool]) -> dict[str, Exchange]:
    found: dict[str, Exchange] = {}
    for call in view.calls:
        if call.index < link.call.index:
            for one in call.generated:
                if (name := name_of(one)) is not None and is_wanted(call, one):
                    found[name] = one
    return found


def is_forgotten(exchange: Exchange) -> bool:
    """Whether the service refused a request because it does not keep, or keeps no longer, what is named there."""
    head = exchange.call.resource if exchange.call is not None else None
    stored_ids = exchange.response.kept if exchange.response is not None else ()
    refused = any(finding.get("enforced") for finding in exchange.request.findings)
    return exchange.generates and refused and head is not None and head not in stored_ids


def forgotten(view: View) -> Iterator[tuple[ProviderCall, Exchange, Link | None]]:
    """The requests that were refused like that, each with the next request, of the same call if that made one."""
    found = links(view)
    for call in view.calls:
        for one in call.exchanges:
            if is_forgotten(one):
                yield call, one, next((link for link in found if link.request.exchange.number > one.number), None)
