"""The history of a session against the wire: each request says what the session holds, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from turnproof.dialects.base import WireDifference
from turnproof.judge.finding import Compared, Finding, Place
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.verdict import Verdict, inconclusive
from turnproof.judge.view import Exchange, View
from turnproof.judge.view.diff import Steps, equal, show
from turnproof.judge.view.provenance import neutral_path
from turnproof.messages import JSON, FunctionCall, Message, Part, Text, Thought, ToolResult
from turnproof.run.transcript import Interjected

from .steps import Step, turns_done

_DIFFERS = {
    what: finding(f"history/wire-is-what-the-session-holds/{what}", title)
    for what, title in {
        "changed-args": "The arguments of a call in the request are not the session's.",
        "invented": "The request has something that the session does not hold.",
        "lost-attachment": "The request lacks an attachment that the session holds.",
        "lost-call": "The request lacks a call that the session holds, or has another one.",
        "lost-error-flag": "A failed result is not marked as one in the request.",
        "lost-result": "The request lacks a result that the session holds, or has another one.",
        "lost-signature": "The request lacks thinking that the session holds, or has it changed.",
        "lost-text": "The request lacks a text that the session holds, or has another one.",
        "pairing": "A result in the request belongs to another call.",
        "system": "The instructions in the request are not the session's.",
        "tools": "The tools in the request are not the session's.",
    }.items()
}
"""By the dialects' words for what differs; a word that is not here, nor `order`, is `_OTHER`."""

_ORDER = finding(
    "history/wire-is-what-the-session-holds/order",
    "The request has the session's messages in another order.",
    "the order of the history",
    "{observed} in another place",
)
_OTHER = finding(
    "history/wire-is-what-the-session-holds/other",
    "The request is not what the session holds.",
    "{expected}, as the session holds it",
    "{observed} ({what:words})",
)


@check("history/wire-is-what-the-session-holds")
def wire_is_what_the_session_holds(view: View) -> Findings:
    """Every request that the API took, against the session's own history up to what the request asks about."""
    for step in turns_done(view):
        if step.collects or step.added is None or step.first(Interjected) is not None:
            continue
        for exchange in step.generated:
            history = _history_for(step, step.added, exchange)
            if history is not None:
                yield from _against_the_wire(view, step, exchange, history)


def _history_for(step: Step, added: tuple[Message, ...], exchange: Exchange) -> tuple[Message, ...] | None:
    """What a request has to say, by the session's history; None where that does not tell."""
    call, script = exchange.call, step.turn.script
    if call is None or exchange.refusals or not call.messages or script is None:
        return None
    messages = _after_last_user_message(call.messages, script.user)
    if messages and messages[-1].role == "model":
        return None  # a paused answer is to go on
    rounds = sum(message.role == "tool" for message in messages)
    # What stands in front of the user's message mends what was taken over.
    user_place = next((place for place, message in enumerate(added) if message.role == "user"), None)
    if user_place is None:
        return (*step.history_before, Message("user", script.user)) if not rounds else None
    if not rounds:
        return (*step.history_before, *added[: user_place + 1])
    places = [place for place, message in enumerate(added) if message.role == "tool" and place > user_place]
    return (*step.history_before, *added[: places[rounds - 1] + 1]) if rounds <= len(places) else None


def _after_last_user_message(messages: Sequence[Message], user: Sequence[Part]) -> list[Message]:
    """What a request says behind the last message that is the user's own.

    Some APIs take no pictures in a result: they go in a message of the user behind the results, which asks nothing.
    """
    words = [part.text for part in user if isinstance(part, Text)]
    for place in reversed(range(len(messages))):
        if messages[place].role != "user":
            continue
        own = any(isinstance(part, Text) and part.text in words for part in messages[place].parts)
        if own or _before_users(messages, place) != "tool":
            return [message for message in messages[place + 1 :] if message.role != "user"]
    return [message for message in messages if message.role != "user"]


def _before_users(messages: Sequence[Message], place: int) -> str:
    """The role of the last message before the one at `place` that is not the user's."""
    return next((message.role for message in reversed(messages[:place]) if message.role != "user"), "")


def _against_the_wire(
    view: View, step: Step, exchange: Exchange, messages: tuple[Message, ...]
) -> Iterator[Compared | Finding | Verdict]:
    assert exchange.call is not None
    scenario, turn = view.scenario, step.turn.index
    found = view.dialect.differences(
        messages, scenario.system_in(turn), view.tools_in(turn, exchange), exchange.call, view.transcript.model
    )
    if not found:
        yield Compared("requests against the history")
    elif not any(one.violation for one in found):
        lines = [f"{one.what} at {one.path}: held {show(one.held)}, sent {show(one.sent)}" for one in found]
        where = f"{step.where}, request {exchange.number}"
        yield inconclusive(
            f"{where}: the wire differs in a way that is not classified: {lines[0]}", detail="\n".join(lines)
        )
    for one in found:
        if one.violation and one.what == "order":
            _, related = _places_of(step, exchange, messages, one)
            yield _ORDER(exchange.at_read(*neutral_path(one.sent["at"])[1:]), observed=one.held, related=related)
        elif one.violation:
            place, related = _places_of(step, exchange, messages, one)
            yield _DIFFERS.get(one.what, _OTHER)(
                place, expected=_unless_none(one.held), observed=_unless_none(one.sent), related=related, what=one.what
            )


def _unless_none(value: JSON) -> object:
    """A side of a difference, which is None where there is nothing."""
    return UNSET if value is None else value


def _places_of(
    step: Step, exchange: Exchange, messages: Sequence[Message], difference: WireDifference
) -> tuple[Place, list[Place]]:
    """Where in the request a difference stands, or what it lacks should; and what the session holds there."""
    path = neutral_path(difference.path)
    if path[:1] == ("sent",):
        return exchange.at_read(*path[1:]), []
    if path[:1] != ("messages",) or len(path) < 4:
        return exchange.at_read(*_with_number(exchange, path)), []
    _, number, _, place, *field = path
    assert isinstance(number, int), "the index of a message"
    assert isinstance(place, int), "the index of a part"
    related = [step.at_history(number, "parts", place)] if number < len(step.history) else []
    found = (
        _counterpart(exchange, messages[number].parts[place], difference.sent) if difference.sent is not None else None
    )
    return exchange.at_read("messages", *found, *field) if found else exchange.at_read("messages"), related


def _with_number(exchange: Exchange, path: Steps) -> Steps:
    """The path of a tool that is named in it by its index; where the request has no such tool, that of all tools."""
    if path[:1] != ("tools",) or exchange.call is None:
        return path
    numbers = {tool.name: number for number, tool in enumerate(exchange.call.tools)}
    return ("tools", numbers[str(path[1])], *path[2:]) if len(path) > 1 and str(path[1]) in numbers else ("tools",)


def _counterpart(exchange: Exchange, session_part: Part, sent: JSON) -> tuple[int, str, int] | None:
    """The part of the request that stands for one that the session holds, and of which it has this instead."""
    assert exchange.call is not None, "it was compared"
    for number, message in enumerate(exchange.call.messages):
        for place, part in enumerate(message.parts):
            match session_part, part:
                case (FunctionCall(), FunctionCall()) if part.id == session_part.id or equal(part.args, sent):
                    return number, "parts", place
                case (ToolResult(), ToolResult()) if part.call_id in (session_part.call_id, sent):
                    return number, "parts", place
                case (Text(text=own), Text(text=found)) | (Thought(text=own), Thought(text=found)):
                    if found in (own, sent):
                        return number, "parts", place
    return None
