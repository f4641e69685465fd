"""Conversations that the service keeps: what a chain and its requests say together, and what a chain goes on from."""

from __future__ import annotations

from itertools import pairwise

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import FunctionCall, Message, ToolResult

from .chains import (
    Happening,
    Link,
    broken_names,
    cut_names,
    forgotten,
    heads_of,
    is_at_hand,
    is_forgotten,
    links,
    name_of,
)
from .content import calls_made, results_in

_TWICE = finding(
    "stored/nothing-is-sent-twice/twice",
    "The request says again what the service holds already, or something that nobody said.",
    "what is new since the answer that the request goes on from",
    "{observed} as well",
)


@check("stored/nothing-is-sent-twice", needs="calls")
def nothing_is_sent_twice(view: View) -> Findings:
    """Of requests that go on from the answer before them."""
    for link in links(view):
        if link.goes_on:
            yield from link.compared(_TWICE, link.inventions(), "requests that go on from an answer")


_MISSING = finding(
    "stored/nothing-is-missing-from-the-chain/missing",
    "Something that the session holds is neither at the service nor in the request.",
)


@check("stored/nothing-is-missing-from-the-chain", needs="calls")
def nothing_is_missing_from_the_chain(view: View) -> Findings:
    """Of requests that go on from the answer before them."""
    for link in links(view):
        if link.goes_on:
            yield from link.compared(_MISSING, link.losses(), "requests that go on from an answer")


_OLDER = finding(
    "stored/head-is-the-last-answer/other",
    "The request goes on from another answer than the last one.",
    "the answer {expected}",
    "{observed}",
)


@check("stored/head-is-the-last-answer", needs="calls")
def head_is_the_last_answer(view: View) -> Findings:
    """Of what the user says after an ordinary answer. A new conversation may have been given all that was said."""
    known: set[str] = set()
    for link in links(view):
        newest = name_of(link.newest)
        known |= {*heads_of(link.newest)}
        if link.since != {"answered"} or link.head is None or newest is None or _is_of_tools(link):
            continue
        if link.head in heads_of(link.newest):
            yield Compared("answers that were gone on from")
        elif link.head in known or not link.request.wire.in_conversation:
            yield _OLDER(link.at_head(), expected=newest, observed=link.head)


_EVERYTHING = finding(
    "stored/a-turn-sends-what-is-new/everything",
    "The request has the whole conversation, which the service holds already.",
    "a request that goes on from {expected}",
    "one with {observed} messages",
)


@check("stored/a-turn-sends-what-is-new", needs="calls")
def a_turn_sends_what_is_new(view: View) -> Findings:
    """After an ordinary answer that is stored, or held by the connection, the request goes on from some answer."""
    for link in links(view):
        if link.since != {"answered"} or not link.is_at_hand:
            continue
        if link.head is not None:
            yield Compared("requests after an answer that can be named")
        elif not link.losses():
            expected, observed = name_of(link.newest), len(link.request.wire.messages)
            yield _EVERYTHING(link.request.at("messages"), expected=expected, observed=observed)


_NOT_WHOLE = finding(
    "stored/without-a-chain-everything-is-sent/missing",
    "The request goes on from nothing and does not have the whole conversation.",
)


@check("stored/without-a-chain-everything-is-sent", needs="calls")
def without_a_chain_everything_is_sent(view: View) -> Findings:
    """Of the first request, and of later ones that follow an ordinary answer."""
    for link in links(view):
        if link.ordinary and link.head is None:
            yield from link.compared(_NOT_WHOLE, link.losses(), "requests that go on from nothing")


# -- after an abnormal turn


_CANCELLED_HEAD = finding(
    "stored/cancelled-answers-are-no-head/head",
    "The request goes on from an answer that was cancelled.",
    "an earlier answer, or none",
    "{observed}",
)


@check("stored/cancelled-answers-are-no-head", needs="calls")
def cancelled_answers_are_no_head(view: View) -> Findings:
    """Of every later request. The service may hold all of such an answer, the session holds its beginning."""
    for link in links(view):
        cut = cut_names(view, link)
        if not cut:
            continue
        if link.head in cut:
            yield _CANCELLED_HEAD(link.at_head(), observed=link.head, related=[cut[link.head].at()])
        else:
            yield Compared("requests after a cancelled answer")


_CANCELLED_LOST = finding(
    "stored/cancelled-turns-are-gone-on-from-as-held/lost",
    "After a cancelled turn, chain and request lack something that the session holds.",
)


@check("stored/cancelled-turns-are-gone-on-from-as-held", needs="calls")
def cancelled_turns_are_gone_on_from_as_held(view: View) -> Findings:
    """Of the request right after a cancelled answer."""
    for link in _after(view, "cancelled"):
        if link.head not in cut_names(view, link) and not _open_calls(link):
            yield from link.compared(_CANCELLED_LOST, link.losses(), "requests after a cancelled turn")


_FAILED_HEAD = finding(
    "stored/failed-answers-are-no-head/head",
    "The request goes on from an answer that failed.",
    "an earlier answer, or none",
    "{observed}",
)


@check("stored/failed-answers-are-no-head", needs="calls")
def failed_answers_are_no_head(view: View) -> Findings:
    """Of requests in later turns than the one that failed."""
    for link in links(view):
        broken = {
            name: one
            for name, one in broken_names(view, link).items()
            if one.request.turn < link.request.exchange.request.turn
        }
        if not broken:
            continue
        if link.head in broken:
            yield _FAILED_HEAD(link.at_head(), observed=link.head, related=[broken[link.head].at()])
        else:
            yield Compared("requests after a failed answer")


_RETRY_HEAD = finding(
    "stored/retries-go-on-from-the-same-answer/other",
    "A repeated request goes on from another answer than the first attempt.",
    "{expected}, as the first attempt",
    "{observed}",
)


@check("stored/retries-go-on-from-the-same-answer", needs="calls")
def retries_go_on_from_the_same_answer(view: View) -> Findings:
    """Of further attempts of a round: they go on from the same answer, or from nothing."""
    first: dict[tuple[int, int], Link] = {}
    for link in links(view):
        began = link.call.began
        before = first.setdefault((began.turn, began.round), link)
        if before is link or before.call is link.call:
            continue
        if link.head in (before.head, None):
            yield Compared("repeated requests")
        else:
            yield _RETRY_HEAD(
                link.at_head(), expected=before.head or "nothing", observed=link.head, related=[before.at_head()]
            )


_CLIPPED = finding(
    "stored/answers-cut-short-are-gone-on-from-as-held/lost",
    "After an answer that reached its limit, chain and request lack something that the session holds.",
)


@check("stored/answers-cut-short-are-gone-on-from-as-held", needs="calls")
def answers_cut_short_are_gone_on_from_as_held(view: View) -> Findings:
    """Of the request right after an answer that ended at its limit."""
    for link in _after(view, "clipped"):
        yield from link.compared(_CLIPPED, link.losses(), "requests after an answer that was cut short")


_REFUSED = finding(
    "stored/refusals-are-gone-on-from-as-held/lost",
    "After an answer in which the model declined, chain and request lack something that the session holds.",
)


@check("stored/refusals-are-gone-on-from-as-held", needs="calls")
def refusals_are_gone_on_from_as_held(view: View) -> Findings:
    """Of the request right after an answer in which the model declined."""
    for link in _after(view, "refused"):
        yield from link.compared(_REFUSED, link.losses(), "requests after a refusal")


# -- calls and results


_UNANSWERED = finding(
    "stored/calls-are-answered-before-the-chain-goes-on/unanswered",
    "The request goes on from an answer whose call has no result.",
    "a result for the call {expected}",
    "none",
)


@check("stored/calls-are-answered-before-the-chain-goes-on", needs="calls")
def calls_are_answered_before_the_chain_goes_on(view: View) -> Findings:
    """Of every request that goes on from an answer and has calls in front of it, or that follows a cancelled turn."""
    for link in links(view):
        open_calls = _open_calls(link)
        for call in open_calls:
            yield _UNANSWERED(link.at_head(), expected=call.id)
        if not open_calls and (calls_made(link.carried) or "cancelled" in link.since):
            yield Compared("calls in front of a request")


_ORPHAN = finding(
    "stored/results-answer-a-call-of-the-chain/orphan",
    "The request has the result of a call that is neither at the service nor in the request.",
    "the call {expected} in what the request goes on from",
    "none",
)


@check("stored/results-answer-a-call-of-the-chain", needs="calls")
def results_answer_a_call_of_the_chain(view: View) -> Findings:
    """Of requests that go on from an answer and have results."""
    for link in links(view):
        if link.head is None or is_forgotten(link.request.exchange):
            continue
        call_ids = {call.id for call in calls_made(link.request.wire.messages)}
        for result in results_in(link.own):
            if result.call_id in call_ids:
                yield Compared("results in a chain")
            else:
                yield _ORPHAN(link.request.at_part(result), expected=result.call_id)


def _open_calls(link: Link) -> list[FunctionCall]:
    """Calls that the service holds, and no result anywhere."""
    if link.head is None:
        return []
    answered = {result.call_id for result in results_in(link.request.wire.messages)}
    return [call for call in calls_made(link.carried) if call.id not in answered]


def _is_of_tools(link: Link) -> bool:
    messages: list[Message] = list(link.own)
    return bool(messages) and any(isinstance(part, ToolResult) for part in messages[-1].parts)


def _after(view: View, what: Happening) -> list[Link]:
    return [link for link in links(view) if what in link.since and "again" not in link.since]


# -- after an operation


_COLLECTED = finding(
    "stored/collected-history-is-gone-from-the-chain/there",
    "The service still has what the session has collected.",
    "what the session holds",
    "{observed} as well",
)
_RESET = finding(
    "stored/a-reset-ends-the-chain/there",
    "The service still has the conversation from before the reset.",
    "what the session holds",
    "{observed} as well",
)
_REVERTED = finding(
    "stored/reverted-turns-are-gone-from-the-chain/there",
    "The service still has turns that the session went back from.",
    "what the session holds",
    "{observed} as well",
)


@check("stored/collected-history-is-gone-from-the-chain", needs="calls")
def collected_history_is_gone_from_the_chain(view: View) -> Findings:
    """Of the request right after a collection."""
    for link in _after(view, "collected"):
        yield from link.compared(_COLLECTED, link.inventions(), "requests after a collection")


@check("stored/a-reset-ends-the-chain", needs="calls")
def a_reset_ends_the_chain(view: View) -> Findings:
    """Of the request right after a reset."""
    for link in _after(view, "reset"):
        yield from link.compared(_RESET, link.inventions(), "requests after a reset")


@check("stored/reverted-turns-are-gone-from-the-chain", needs="calls")
def reverted_turns_are_gone_from_the_chain(view: View) -> Findings:
    """Of the request right after the session went back."""
    for link in _after(view, "reverted"):
        yield from link.compared(_REVERTED, link.inventions(), "requests after going back")


_TEXT_LOST = finding(
    "stored/resumed-conversations-are-whole/lost",
    "A conversation that was loaded or handed over goes on without something that was said.",
)
_CALLS_LOST = finding(
    "stored/resumed-conversations-have-their-calls/lost",
    "A conversation that was loaded or handed over goes on without a call or its result.",
)


@check("stored/resumed-conversations-are-whole", needs="calls")
def resumed_conversations_are_whole(view: View) -> Findings:
    """Texts, in the request right after a load, or after another provider object took over."""
    for link in _resumed(view):
        losses = link.losses("lost-text", "order", "lost-attachment")
        yield from link.compared(_TEXT_LOST, losses, "requests of a resumed conversation")


@check("stored/resumed-conversations-have-their-calls", needs="calls")
def resumed_conversations_have_their_calls(view: View) -> Findings:
    """Calls and results, in the same requests, where there are any."""
    for link in _resumed(view):
        if calls_made(link.call.began.messages):
            losses = link.losses("lost-call", "lost-result", "pairing", "changed-args")
            yield from link.compared(_CALLS_LOST, losses, "calls of a resumed conversation")


def _resumed(view: View) -> list[Link]:
    return [link for link in links(view) if {"loaded", "swapped"} & link.since and "again" not in link.since]


# -- what the service has forgotten


_FORGOTTEN = finding(
    "stored/a-forgotten-chain-loses-nothing/lost",
    "The service had forgotten the conversation, and the request after that does not have all of it.",
)
_UNTYPED = finding(
    "stored/a-forgotten-chain-loses-nothing/untyped",
    "The service had forgotten the conversation, and the call failed with an error that says nothing.",
    "an answer, or a provider error",
    "{observed}",
)


@check("stored/a-forgotten-chain-loses-nothing", needs="calls")
def a_forgotten_chain_loses_nothing(view: View) -> Findings:
    """Of the request that follows a refused one in the same call; without one, of how the call failed."""
    for call, one, after in forgotten(view):
        if after is not None and after.call is call:
            yield from after.compared(_FORGOTTEN, after.losses(), "requests after the service had forgotten")
        elif call.failed is not None and not call.failed.typed:
            yield _UNTYPED(one.at(), observed=call.failed.error)
        elif call.failed is not None:
            yield Compared("calls whose chain was forgotten")


_GIVEN_UP = finding(
    "stored/a-forgotten-chain-is-told-again/failed",
    "The service had forgotten the conversation, and the call failed although all of it is at hand.",
    "an answer",
    "{observed}",
)


@check("stored/a-forgotten-chain-is-told-again", needs="calls")
def a_forgotten_chain_is_told_again(view: View) -> Findings:
    """The call that was refused ends with an answer all the same."""
    for call, one, _ in forgotten(view):
        if call.failed is None:
            yield Compared("calls whose chain was forgotten")
        else:
            yield _GIVEN_UP(one.at(), observed=call.failed.error)


# -- what a connection holds


_CONNECTION_LOST = finding(
    "stored/a-lost-connection-loses-nothing/lost",
    "The connection with the conversation was lost, and the first request on the next one does not have all of it.",
)


@check("stored/a-lost-connection-loses-nothing", needs="calls")
def a_lost_connection_loses_nothing(view: View) -> Findings:
    """Of the first request on a connection that follows another one, where a connection holds what nobody stores."""
    for before, link in pairwise(links(view)):
        if _is_held_by_a_connection(before) and not _on_one_connection(before, link):
            yield from link.compared(_CONNECTION_LOST, link.losses(), "requests on another connection")


_FOREIGN = finding(
    "stored/a-chain-stays-on-its-connection/elsewhere",
    "The request goes on from an answer that another connection held.",
    "an answer of its own connection, or the whole conversation",
    "{observed}",
)


@check("stored/a-chain-stays-on-its-connection", needs="calls")
def a_chain_stays_on_its_connection(view: View) -> Findings:
    """Of requests on another connection than the one before them, and of those that go on from an answer there."""
    named = {name_of(one): one for call in view.calls for one in call.generated}
    moved = False
    for before, link in pairwise(links(view)):
        moved = moved or not _on_one_connection(before, link)
        if not moved or not _is_held_by_a_connection(link):
            continue
        source = named.get(link.head)
        if source is None or is_at_hand(source, link.request.exchange):
            yield Compared("requests behind a lost connection")
        else:
            yield _FOREIGN(link.at_head(), observed=link.head, related=[source.at()])


_NOT_REPLACED = finding(
    "stored/an-ended-connection-is-replaced/failed",
    "The service ended the connection because of its age, and the call failed.",
    "an answer by another connection",
    "{observed}",
)


@check("stored/an-ended-connection-is-replaced", needs="calls")
def an_ended_connection_is_replaced(view: View) -> Findings:
    """Of calls in which the service refuses a message only because time has passed."""
    for call in view.calls:
        ended = next((one for one in call.exchanges if one.outdated and _is_of_a_connection(one)), None)
        if ended is not None and call.failed is None:
            yield Compared("calls on a connection that ended")
        elif ended is not None and call.failed is not None:
            yield _NOT_REPLACED(ended.at(), observed=call.failed.error)


def _is_held_by_a_connection(link: Link) -> bool:
    """Whether what answers the request is in the memory of its connection, and nowhere else."""
    return _is_of_a_connection(link.request.exchange) and not link.request.wire.kept_answer


def _is_of_a_connection(exchange: Exchange) -> bool:
    return exchange.call is not None and exchange.call.connection_holds


def _on_one_connection(one: Link, other: Link) -> bool:
    return one.request.exchange.request.connection == other.request.exchange.request.connection
