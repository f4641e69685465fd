"""Phase 1: the session's history and the provider's own, side by side after every operation.

They are compared by what they say: roles, texts, calls, results and media. Ids of messages, marks, thoughts and their
seals are each side's own business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..messages import Message
from ..requirements import Findings
from ..transcript import CallBegan, Failed, HistorySnapshot, Refused
from ..verdict import Verdict, inconclusive, violated
from ..view import TurnView, View
from ..view.diff import differences
from ..view.plain import plain
from .taken import said_path

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
class Held:
    """Both histories after one operation. `provider` is None where the session did not show it."""

    turn: TurnView
    after: str
    session: tuple[Message, ...]
    provider: tuple[Message, ...] | None


def histories_agree(view: View) -> Findings:
    """Each operation of a run after which both histories say the same; the first after which they do not.

    Later ones follow from it: a history carries on what it once lacks.
    """
    if broken := _unreadable(view):
        yield broken
        return
    for held in snapshots(view):
        operation = operation_of(held)
        if held.provider is None:
            where = f" (the session is on the {said} path)" if (said := said_path(view)) not in (None, "legacy") else ""
            yield inconclusive(f"{held.turn.where}, after {operation}: the provider's own history is not shown{where}")
            return
        found = differences(plain(held.session), plain(held.provider), names=("session", "provider"))
        if found:
            yield violated(
                f"{held.turn.where}, after {operation}: the session's history is not the provider's: {found[0]}",
                detail="\n".join(found),
            )
            return
        yield operation


def snapshots(view: View) -> Iterator[Held]:
    """What was held after each operation, in order."""
    for turn in view.turns:
        waiting: HistorySnapshot | None = None
        for event in turn.events:
            if not isinstance(event, HistorySnapshot):
                continue
            if event.owner == "session":
                if waiting is not None:
                    yield Held(turn, waiting.after, waiting.messages, None)
                waiting = event
            elif waiting is not None:
                yield Held(turn, waiting.after, waiting.messages, event.messages)
                waiting = None
        if waiting is not None:
            yield Held(turn, waiting.after, waiting.messages, None)


def operation_of(held: Held) -> str:
    """The operation in words; of a turn also how it ended, and how many rounds of tools it had."""
    if held.after != "turn":
        return _WORDS.get(held.after, held.after)
    ended = held.turn.ended
    how = {"cancelled": "a cancelled turn", "error": "a failed turn"}.get(ended.outcome if ended else "", "a turn")
    rounds = max((event.round for event in held.turn.events if isinstance(event, CallBegan)), default=0)
    if rounds == 0:
        return how
    return f"{how} with {'a round' if rounds == 1 else f'{rounds} rounds'} of tools"


def _unreadable(view: View) -> Verdict | None:
    """What kept one of the histories from being read at all."""
    for event in view.transcript.events:
        match event:
            case Refused(operation="history"):
                side = "session"
            case Failed(scope="call", call=-1, probe="") if event.turn >= 0:
                side = "provider"
            case _:
                continue
        return violated(
            f"turn {event.turn}: the {side}'s history cannot be read: it raised {event.error}: {event.message}"
        )
    return None
