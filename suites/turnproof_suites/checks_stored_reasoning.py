"""Conversations that the service keeps: reasoning belongs to the item that came right after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnproof.judge.finding import Compared, Place
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, Part, Text, Thought

from .chains import Link, links
from .content import results_in
from .reading import answered_calls

_ALONE = finding(
    "stored/reasoning-is-not-left-alone/alone",
    "The request has reasoning without the item that it led to.",
    "{expected} after the reasoning, or neither",
    "the reasoning alone",
)
_PLACE = finding(
    "stored/reasoning-keeps-its-place/moved",
    "The request has reasoning in another place than right before the item that it led to.",
    "{expected} right after the reasoning",
    "{observed}",
)


@check("stored/reasoning-is-not-left-alone", needs="calls")
def reasoning_is_not_left_alone(view: View) -> Findings:
    """Of reasoning that came in an answer of this run."""
    for one in _replayed(view):
        if one.follower_is_sent:
            yield Compared("reasoning with what it led to")
        else:
            yield _ALONE(one.at(), expected=_shown(one.follower))


@check("stored/reasoning-keeps-its-place", needs="calls")
def reasoning_keeps_its_place(view: View) -> Findings:
    """Of reasoning whose follower is in the request."""
    for one in _replayed(view):
        if not one.follower_is_sent:
            continue
        if one.after is not None and _same(one.after, one.follower):
            yield Compared("reasoning in front of what it led to")
        else:
            observed = "nothing" if one.after is None else _shown(one.after)
            yield _PLACE(one.at(), expected=_shown(one.follower), observed=observed)


_LEFT_OUT = finding(
    "stored/reasoning-goes-back-with-its-call/missing",
    "The request has a call without the reasoning that led to it.",
    "the reasoning in front of the call {expected}",
    "none",
)


@check("stored/reasoning-goes-back-with-its-call", needs="calls")
def reasoning_goes_back_with_its_call(view: View) -> Findings:
    """Of requests that bring the results of calls: the model goes on with what it thought before them."""
    for link in links(view):
        if not link.call.began.round:
            continue
        there = {_seal(thought) for thought, _ in _sealed(link.request.wire.messages)}
        expected = {result.call_id for result in results_in(link.call.began.messages[-1:])}
        for thought, after in _sealed(link.call.began.messages):
            if not isinstance(after, FunctionCall) or after.id not in expected:
                continue
            if _seal(thought) in there or link.request.wire.looked_up:
                yield Compared("reasoning in front of calls")
            else:
                yield _LEFT_OUT(link.request.at("messages"), expected=after.id)


_UNSEALED = finding(
    "stored/unstored-reasoning-is-asked-for/unsealed",
    "The service keeps nothing, and the request does not ask for the reasoning in a form that can be sent back.",
    "encrypted reasoning in the answer",
    "reasoning that only has an id",
)


@check("stored/unstored-reasoning-is-asked-for", needs="calls")
def unstored_reasoning_is_asked_for(view: View) -> Findings:
    """Of answers with reasoning that the service does not store."""
    for one in answered_calls(view):
        exchange = one.call.last
        if exchange is None or exchange.call is None or exchange.call.kept_answer:
            continue
        for part in one.wire.parts:
            if isinstance(part, Thought):
                if _seal(part):
                    yield Compared("reasoning of answers that are not stored")
                else:
                    yield _UNSEALED(exchange.at())


_SUMMARY = finding(
    "stored/reasoning-keeps-its-summary/missing",
    "A reasoning item goes back without its summary, which has to be there even if it is empty.",
    "a list",
    "{observed}",
)


@check("stored/reasoning-keeps-its-summary", needs="calls")
def reasoning_keeps_its_summary(view: View) -> Findings:
    """Of every reasoning item that a request has itself."""
    for link in links(view):
        body = link.request.exchange.body
        items = body.get("input") if isinstance(body, dict) else None
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if not isinstance(item, dict) or item.get("type") != "reasoning":
                continue
            if isinstance(item.get("summary"), list):
                yield Compared("summaries")
            else:
                place = link.request.exchange.at(pointer=f"/input/{number}")
                yield _SUMMARY(place, observed=item.get("summary", "none"))


@dataclass(frozen=True, slots=True)
class _Replayed:
    """Reasoning in a request that came in an answer of this run.

    `follower` is what it led to there, `after` what stands behind it in the request.
    """

    link: Link
    thought: Thought
    after: Part | None
    follower: Part
    follower_is_sent: bool

    def at(self) -> Place:
        """The reasoning, in the request."""
        return self.link.request.at_part(self.thought)


def _replayed(view: View) -> Iterator[_Replayed]:
    followers = _followers(view)
    for link in links(view):
        messages = link.request.wire.messages
        sent = [part for message in messages if message.role == "model" for part in message.parts]
        for thought, after in _sealed(messages):
            if (follower := followers.get(_seal(thought))) is not None:
                is_sent = any(_same(part, follower) for part in sent)
                yield _Replayed(link, thought, after, follower, is_sent)


def _followers(view: View) -> dict[str, Part]:
    """What came right after each piece of reasoning in the answers of the run, by what seals it."""
    return {
        _seal(thought): after
        for one in answered_calls(view)
        for thought, after in _sealed([Message("model", one.wire.parts)])
        if after is not None
    }


def _sealed(messages: Sequence[Message]) -> Iterator[tuple[Thought, Part | None]]:
    """Reasoning that can be told from other, each with the next part of its message that is none."""
    for message in messages:
        if message.role == "model":
            for number, part in enumerate(message.parts):
                if isinstance(part, Thought) and _seal(part):
                    rest = (one for one in message.parts[number + 1 :] if not isinstance(one, Thought))
                    yield part, next(rest, None)


def _seal(thought: Thought) -> str:
    """What stands for the whole of a thought: its encrypted form, or its signature."""
    data = thought.provider_data.data if thought.provider_data is not None else {}
    return str(data.get("encrypted") or data.get("signature") or "")


def _same(part: Part, other: Part) -> bool:
    if isinstance(part, FunctionCall) and isinstance(other, FunctionCall):
        return part.id == other.id
    return isinstance(part, Text) and isinstance(other, Text) and part.text.strip() == other.text.strip()


def _shown(part: Part) -> str:
    match part:
        case FunctionCall(id=name):
            return f"the call {name}"
        case Text(text=text):
            return text
        case _:
            return type(part).__name__
