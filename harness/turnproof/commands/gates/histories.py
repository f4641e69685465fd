"""Phase 1: the session's history and the provider's own, side by side after every operation.

They are compared by what they say: roles, texts, calls, results and media. Ids of messages, marks, thoughts and their
seals are each side's own business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET

from ...judge.finding import Compared, Side
from ...judge.view import TurnView, View
from ...judge.view.diff import ABSENT, as_path, walk_steps
from ...judge.view.plain_content import plain
from ...messages import Message
from ...run.transcript import CallBegan, Failed, HistorySnapshot, Refused
from .codes import closes, leaves_undecided
from .combined_runs import RunReasons
from .decision import Reason
from .session_path import named_path_of

_DIFFERS = closes(
    "histories-agree/differs",
    "The session's history is not the provider's.",
    "{expected} at {path:words} after {operation:words}, as the provider has it",
    "{observed}",
)
_UNREADABLE = closes(
    "histories-agree/unreadable",
    "A history cannot be read.",
    "the history of the {owner:words}",
    "{error:words}: {message:words}",
)
_HIDDEN = leaves_undecided(
    "histories-agree/provider-not-shown",
    "The session does not show its provider's history.",
    "the provider's own history after {operation:words}",
    "none",
)
_HIDDEN_THERE = leaves_undecided(
    "histories-agree/provider-not-shown-on-this-path",
    "The session does not show its provider's history.",
    "the provider's own history after {operation:words}, on the legacy path",
    "none, on the {observed:words} path",
)

_WORDS = {
    "gc": "a collection",
    "save-load": "saving and loading",
    "save-load-other-path": "saving, and loading on the other path",
    "child": "a turn of a child",
    "damaged-load": "refusing damaged text",
    "new-provider": "a swap of the provider",
    "reset": "a reset",
    "revert": "a revert",
    "tamper": "a change of the list that was handed out",
    "actions": "the operations of a turn in which nothing is said",
}


@dataclass(frozen=True, slots=True)
class HistoryPair:
    """Both histories after one operation. `provider` is None where the session did not show it."""

    turn: TurnView
    after: str
    session: tuple[Message, ...]
    provider: tuple[Message, ...] | None


def histories_agree(view: View) -> RunReasons:
    """Each operation of a run after which both histories say the same; how they differ after the first that do not.

    Later ones follow from it: a history carries on what it once lacks.
    """
    if broken := _unreadable(view):
        yield broken
        return
    for snapshot in snapshots(view):
        operation = operation_of(snapshot)
        if snapshot.provider is None:
            yield _not_shown(view, snapshot)
            return
        ours, theirs = plain(snapshot.session), plain(snapshot.provider)
        # The pointers are to both lists whole: a place in what they say is none in the messages themselves.
        session, provider = (snapshot.turn.at(Side.HISTORY, owner) for owner in ("session", "provider"))
        differ = False
        for steps, left, right in walk_steps(ours, theirs):
            differ = True
            yield _DIFFERS(
                session,
                expected=UNSET if right is ABSENT else right,
                observed=UNSET if left is ABSENT else left,
                related=[provider],
                path=as_path(steps),
                operation=operation,
            )
        if differ:
            return
        yield Compared(operation)


def _not_shown(view: View, snapshot: HistoryPair) -> Reason:
    place, operation = snapshot.turn.at(Side.HISTORY, "session"), operation_of(snapshot)
    named_path = named_path_of(view)
    if named_path in (None, "legacy"):
        return _HIDDEN(place, operation=operation)
    return _HIDDEN_THERE(place, operation=operation, observed=named_path)


def snapshots(view: View) -> Iterator[HistoryPair]:
    """What was held after each operation, in order."""
    for turn in view.turns:
        waiting: HistorySnapshot | None = None
        for event in turn.events:
            if not isinstance(event, HistorySnapshot):
                continue
            if event.owner == "session":
                if waiting is not None:
                    yield HistoryPair(turn, waiting.after, waiting.messages, None)
                waiting = event
            elif waiting is not None:
                yield HistoryPair(turn, waiting.after, waiting.messages, event.messages)
                waiting = None
        if waiting is not None:
            yield HistoryPair(turn, waiting.after, waiting.messages, None)


def operation_of(snapshot: HistoryPair) -> str:
    """The operation in words; of a turn also how it ended, and how many rounds of tools it had."""
    if snapshot.after != "turn":
        return _WORDS.get(snapshot.after, snapshot.after)
    ended = snapshot.turn.ended
    how = {"cancelled": "a cancelled turn", "error": "a failed turn"}.get(ended.outcome if ended else "", "a turn")
    rounds = max((event.round for event in snapshot.turn.events if isinstance(event, CallBegan)), default=0)
    if rounds == 0:
        return how
    return f"{how} with {'a round' if rounds == 1 else f'{rounds} rounds'} of tools"


def _unreadable(view: View) -> Reason | None:
    """What kept one of the histories from being read at all."""
    for event in view.transcript.events:
        match event:
            case Refused(operation="history"):
                owner = "session"
            case Failed(scope="call", call=-1, probe="") if event.turn >= 0:
                owner = "provider"
            case _:
                continue
        return _UNREADABLE(view.at_event(event), owner=owner, error=event.error, message=event.message)
    return None
