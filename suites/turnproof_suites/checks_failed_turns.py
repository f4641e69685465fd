"""Turns that failed: nothing of them is left, neither in a history nor in a later request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import TurnView, View
from turnproof.messages import Message, Text, same_history
from turnproof.run.transcript import HistorySnapshot, TurnBegan

from .part_rows import ValueDifference, value_differences
from .reading import ReadRequest, first_requests
from .steps import content, unpaired
from .words import users_say, without_blanks

_HISTORY_CHANGED = finding(
    "errors/a-failed-turn-leaves-no-trace/history-changed",
    "A failed turn changed the provider's history.",
    "{expected}, as before the turn",
)
_STILL_SENT = finding(
    "errors/a-failed-turn-leaves-no-trace/still-sent",
    "A request still has the user's message of a failed turn.",
    "a request without the text of the failed turn",
)


@check("errors/a-failed-turn-leaves-no-trace")
def a_failed_turn_leaves_no_trace(view: View) -> Findings:
    """The history is what it was before the turn, wherever it is kept, and the next request shows it."""
    requests = {turn.index: request for turn, request in first_requests(view)}
    user_turns = [turn for turn in view.turns if turn.has_user_message]
    for turn, after in pairwise(user_turns):
        if turn.ended is None or turn.ended.outcome != "error" or turn.script is None:
            continue
        request = requests.get(after.index)
        wrong = list(_history_changes(view, turn))
        if request is not None and _lingers(
            turn.user_text, after.user_text, request.wire.messages, request.session_messages
        ):
            wrong.append(
                _STILL_SENT(
                    _at_user_text(request, turn.user_text),
                    observed=turn.user_text,
                    related=(view.at_event(turn.failed or turn.ended),),
                )
            )
        yield from wrong
        if not wrong and (request is not None or turn.provider_history is not None):
            yield Compared("histories after a failed turn")


def _history_changes(view: View, turn: TurnView) -> Iterator[Finding]:
    """Where a provider that keeps its history holds something else after a failed turn than in front of it."""
    before, now = _provider_history_before(view, turn), turn.provider_history
    if now is None or before is None or same_history(before, now, ids=False):
        return
    # What stands for a result that nobody has is in the words of who mends it: the session, or its provider.
    if unpaired(before) or unpaired(view.scenario.given):
        return
    whole_history = [ValueDifference((), content(before), content(now))]
    for one in list(value_differences(content(before), content(now))) or whole_history:
        place = turn.at(Side.HISTORY, "provider", *one.steps)
        yield _HISTORY_CHANGED(place, expected=one.expected, observed=one.observed)


def _at_user_text(request: ReadRequest, text: str) -> Place:
    """Where in a request the user says this; all its messages, where it stands in no single one."""
    users = (message for message in request.wire.messages if message.role == "user")
    parts = (part for message in users for part in message.parts if isinstance(part, Text))
    found = next((part for part in parts if text in part.text), None)
    return request.at("messages") if found is None else request.at_part(found)


def _provider_history_before(view: View, turn: TurnView) -> tuple[Message, ...] | None:
    """What the provider held when the user spoke, after whatever was done ahead of it; None where nobody looked."""
    # What a provider makes of a conversation that it is handed is not seen before the turn.
    history: tuple[Message, ...] | None = None if view.scenario.given else ()
    events = (event for each in view.turns if each.index <= turn.index for event in each.events)
    for event in takewhile(lambda event: not (isinstance(event, TurnBegan) and event.turn == turn.index), events):
        if isinstance(event, HistorySnapshot):
            history = event.messages if event.owner == "provider" else history
    return history


def _lingers(user_message: str, now: str, sent: Sequence[Message], session_messages: Sequence[Message]) -> bool:
    """Whether a failed turn's text is on the wire, though neither the session nor the new message has it."""
    return (
        bool(user_message.strip())
        and users_say(sent, user_message)
        and not users_say(session_messages, user_message)
        and without_blanks([user_message]) not in without_blanks([now])
    )
