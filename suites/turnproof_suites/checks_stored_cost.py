"""Conversations that the service keeps: what their turns are billed for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import Text, TokenUsage

from .chains import Link, links

_BILLED: Final = ("prompt_tokens", "cache_read_tokens", "cache_creation_tokens", "output_tokens")

_SLACK: Final = 1.05
"""What the form of a request may cost beside what is said: an adapter may cut a text into pieces, or join two."""

_OTHER_COUNT = finding(
    "stored/each-turn-is-counted-as-billed/wrong-count",
    "A turn that goes on from an answer was billed for other figures than the response has.",
    "{expected} as `{field:words}`",
)


@check("stored/each-turn-is-counted-as-billed", needs="usage")
def each_turn_is_counted_as_billed(view: View) -> Findings:
    """Of requests that go on from an answer: all that the service read, and what of it was cached."""
    for link, billed in _answered(view):
        response = link.call.response
        if link.head is None or response is None:
            continue
        wrong = [name for name in _BILLED if getattr(response.usage, name) != getattr(billed, name)]
        for name in wrong:
            yield _OTHER_COUNT(
                link.call.at(Side.RESPONSE, "usage", name),
                expected=getattr(billed, name),
                observed=getattr(response.usage, name),
                related=(link.request.exchange.at(Side.STREAM),),
                field=name,
            )
        if not wrong:
            yield Compared("turns of a chain")


_DEARER = finding(
    "stored/a-chain-costs-no-more-than-sending-all/dearer",
    "A turn that goes on from an answer was billed for more than the whole conversation is.",
    "{expected} prompt tokens at most, for all that the session holds",
    "{observed}",
)


@check("stored/a-chain-costs-no-more-than-sending-all", needs="calls")
def a_chain_costs_no_more_than_sending_all(view: View) -> Findings:
    """Of requests that go on from an answer, against the session's own conversation, counted as the service counts."""
    for link, billed in _answered(view):
        if link.head is None:
            continue
        most = int(_whole(view, link) * _SLACK)
        if billed.prompt_tokens > most:
            yield _DEARER(link.request.exchange.at(Side.STREAM), expected=most, observed=billed.prompt_tokens)
        else:
            yield Compared("turns of a chain")


def _answered(view: View) -> Iterator[tuple[Link, TokenUsage]]:
    """The requests that were answered whole, with what the service said that they cost."""
    for link in links(view):
        answer = link.request.exchange.answer
        if link.request.exchange is link.call.last and answer is not None and answer.usage is not None:
            yield link, answer.usage


def _whole(view: View, link: Link) -> int:
    """Tokens of a request that has the session's whole conversation, with the tools of this one."""
    began = link.call.began
    system = (Text(began.system),) if isinstance(began.system, str) else (began.system,) if began.system else ()
    return view.dialect.count(replace(link.request.wire, system=system, messages=began.messages, managed_messages=0))
