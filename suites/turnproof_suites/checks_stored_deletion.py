"""Conversations that the service keeps: what is deleted there, and what stays."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, ProviderCall, View

from .chains import Link, heads_of
from .reading import requests_of

_STILL_THERE = finding(
    "stored/a-deleted-conversation-is-gone/there",
    "A conversation was deleted, and the service still keeps an answer of it.",
    "nothing of it at the service",
    "{observed}",
)


@check("stored/a-deleted-conversation-is-gone", needs="calls", probe="deletion")
def a_deleted_conversation_is_gone(view: View) -> Findings:
    """Seen at the service, after each request behind the deletion."""
    deleted, _, later = _deletion(view)
    for exchange in later:
        left = [name for name in deleted if name in _stored_ids(exchange)]
        for name in left:
            yield _STILL_THERE(exchange.at(), observed=name)
        if not left:
            yield Compared("deleted conversations")


_FORK_DELETED = finding(
    "stored/a-deletion-leaves-a-fork-alone/gone",
    "A conversation was deleted, and the service no longer keeps an answer of its fork.",
    "{expected} at the service",
    "nothing of this id",
)
_LOST = finding(
    "stored/a-deletion-leaves-a-fork-alone/lost",
    "A conversation was deleted, and its fork goes on without something that was said.",
)


@check("stored/a-deletion-leaves-a-fork-alone", needs="calls", probe="deletion")
def a_deletion_leaves_a_fork_alone(view: View) -> Findings:
    """What the fork had said before is still kept, and its next request has all that it holds."""
    _, fork, later = _deletion(view)
    for exchange in later:
        missing = [name for name in fork if name not in _stored_ids(exchange)]
        for name in missing:
            yield _FORK_DELETED(exchange.at(), expected=name)
        if not missing:
            yield Compared("forks of a deleted conversation")
    for call in _calls(view)[3:]:
        accepted = [one for one in requests_of(view, call) if one.exchange.answered]
        for request in accepted[-1:]:
            link = Link(view, request, frozenset(), None)
            yield from link.compared(_LOST, link.losses(), "requests of a fork")


_NAMED = finding(
    "stored/a-deleted-answer-is-not-named/named",
    "A conversation was deleted, and a later request goes on from an answer of it.",
    "an answer that is kept, or none",
    "{observed}",
)


@check("stored/a-deleted-answer-is-not-named", needs="calls", probe="deletion")
def a_deleted_answer_is_not_named(view: View) -> Findings:
    """Of every request after the deletion, whether it was accepted or not."""
    deleted, _, later = _deletion(view)
    for exchange in later:
        head = exchange.call.resource if exchange.call is not None else None
        if head is not None and head in deleted:
            yield _NAMED(exchange.at(), observed=head)
        else:
            yield Compared("requests behind a deletion")


def _calls(view: View) -> tuple[ProviderCall, ...]:
    """The four calls of the probe: of the conversation, of its fork, and of each again after the deletion."""
    return view.probes.get("deletion", ())


def _deletion(view: View) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Exchange, ...]]:
    """The ids that were deleted, the ids of the fork's own answers, and the requests for answers after the deletion."""
    calls = _calls(view)
    names = [tuple(_names(call)) for call in calls[:2]]
    if len(calls) < 3 or not names[0]:
        return (), (), ()
    return names[0], names[1], tuple(one for call in calls[2:] for one in call.generated)


def _names(call: ProviderCall) -> Iterator[str]:
    for one in call.generated:
        stored = _stored_ids(one)
        yield from (name for name in heads_of(one) if name in stored)


def _stored_ids(exchange: Exchange) -> tuple[str, ...]:
    return exchange.response.kept if exchange.response is not None else ()
