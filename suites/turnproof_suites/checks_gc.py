"""Collected history: what is left goes out whole, what was removed does not come back."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.messages import Message
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import TurnView, View
from turnproof.view.diff import show

from .reading import Requested, calls_made, makes_room, results_in, system_text, too_long, user_text


def _after_collection(view: View) -> Iterator[tuple[TurnView, Requested]]:
    """The first request after each collection: the scenario's, or the session's after a prompt that was too long."""
    due = False
    for turn in view.turns:
        due = due or turn.collected is not None
        for call in turn.calls:
            if due and call.last is not None and call.sent is not None:
                yield turn, Requested(call, call.last, call.sent)
            due = makes_room(call)


@check("gc/pairs-stay-whole")
def pairs_stay_whole(view: View) -> Findings:
    """No call without its result, no result without its call."""
    for _, request in _after_collection(view):
        messages = request.sent.messages
        made = {call.id for call in calls_made(messages)}
        found = {result.call_id for result in results_in(messages)}
        if made == found:
            yield "calls and results after a collection"
        else:
            alone = sorted(made ^ found)[0]
            what = "call has no result" if alone in made else "result has no call"
            yield violated(f"{request.where}: after a collection, the {what}: {alone!r}")


@check("gc/first-message-is-the-users")
def first_message_is_the_users(view: View) -> Findings:
    """A conversation does not begin with an answer, or with the results of calls that are gone."""
    for _, request in _after_collection(view):
        first = next((message for message in request.sent.messages if message.role != "system"), None)
        if first is None or first.role != "user":
            yield violated(
                f"{request.where}: after a collection the request begins with {first.role if first else None!r}"
            )
        else:
            yield "first messages after a collection"


@check("gc/next-turn-is-answered")
def next_turn_is_answered(view: View) -> Findings:
    """The API takes what is left, and the turn ends like any other."""
    reached: set[int] = set()
    for turn, request in _after_collection(view):
        reached.add(turn.index)
        if turn.script is None or turn.script.expect != "answer" or turn.ended is None:
            continue
        if request.exchange.refusals and not too_long(request.exchange):
            first = request.exchange.refusals[0]
            yield violated(
                f"{request.where}: after a collection the API refuses the request: {first['message']}",
                rests_on=request.call.rests_on,
            )
        elif turn.ended.outcome == "answer" or turn.cancelled:
            yield "turns after a collection"
        else:
            yield violated(f"{turn.where}: after a collection the turn ended with {turn.ended.outcome!r}")
    for turn in _first_turns_after_collection(view):
        if turn.index not in reached and turn.failed is not None:
            yield violated(
                f"{turn.where}: after a collection no request went out: {turn.failed.error}: {turn.failed.message}"
            )


def _first_turns_after_collection(view: View) -> Iterator[TurnView]:
    due = False
    for turn in view.turns:
        due = due or turn.collected is not None
        if due and turn.spoken:
            yield turn
            due = False


@check("gc/removed-history-stays-removed")
def removed_history_stays_removed(view: View) -> Findings:
    """Nobody but the session remembers: what it removed is in no later request."""
    known: dict[str, Message] = {}
    gone: list[Message] = []
    for turn in view.turns:
        if turn.collected is not None:
            left = set(turn.collected.after)
            gone += [known[name] for name in turn.collected.before if name not in left and name in known]
        for call in turn.calls:
            if gone and call.sent is not None:
                yield from _forgotten(Requested(call, call.generated[-1], call.sent), gone)
            known.update((message.message_id, message) for message in call.began.messages)
        known.update((message.message_id, message) for message in turn.history or ())


def _forgotten(request: Requested, gone: list[Message]) -> Findings:
    held, sent = user_text(request.held), user_text(request.sent.messages)
    for message in gone:
        if message.role != "user" or not message.text.strip() or message.text in held:
            continue
        if message.text in sent:
            yield violated(f"{request.where}: the collected message {show(message.text)} is still in the request")
        else:
            yield "collected messages"


@check("gc/system-and-tools-stay-in-force")
def system_and_tools_stay_in_force(view: View) -> Findings:
    """A collection removes turns, and nothing that is no turn."""
    for _, request in _after_collection(view):
        began = request.call.began
        missing = [tool.name for tool in began.tools if tool.name not in request.call.wire_names]
        if missing:
            yield violated(f"{request.where}: after a collection the tool {missing[0]!r} is not in the request")
        elif began.system and began.system.strip() not in system_text(request.sent):
            yield violated(f"{request.where}: after a collection the system text is not in the request")
        elif began.system or began.tools:
            yield "system text and tools after a collection"
