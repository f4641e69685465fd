"""One turn of a conversation: its script, its calls, and what the session did between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from ...messages import FinishReason, Message, Text
from ...run import transcript as t
from ...scenarios.model import Cut, ScriptRound, Turn
from ..finding import Place, Side, pointer
from .call import ProviderCall
from .diff import present
from .documents import event_document, history_document, process_events

_NO_END = "TooManyRounds"
"""What a session raises whose model goes on calling tools: a script always comes to an end, a model need not."""


_USUAL = (FinishReason.STOP, FinishReason.TOOL_USE, FinishReason.MAX_TOKENS)


def _ends_unusually(answer: ScriptRound) -> bool:
    return answer.recorded is not None and answer.recorded.status < 400 and answer.finish not in _USUAL


class TurnView:
    """A scenario turn. `events` are all events of it, in order; `calls` the provider calls among them. Of a `live` run
    the real service answers, which knows no script."""

    def __init__(
        self,
        index: int,
        script: Turn | None,
        events: Sequence[t.Event],
        calls: Sequence[ProviderCall],
        key: t.RunKey,
        *,
        live: bool = False,
    ) -> None:
        self._key = key
        self._live = live
        self.index = index
        self.script = script
        self.events = tuple(events)
        self.calls = tuple(calls)

    @property
    def where(self) -> str:
        """The place of the turn, for messages."""
        return f"turn {self.index}"

    def at(self, side: Side = Side.PROCESS, *tokens: str | int, **fields: Any) -> Place:
        """A place in this turn. `tokens` are those of the pointer into the document of `side` (see `finding`).

        What a history leaves out because it has its default is pointed to by what stands around it.
        """
        if side is Side.HISTORY:
            tokens = present(history_document(self.events), tokens)
        fields.setdefault("pointer", pointer(*tokens))
        return Place.of_run(side, self._key, turn=self.index, **fields)

    def at_event(self, event: t.Event, *tokens: str | int) -> Place:
        """An event of this turn that no call has (a tool that ran, how the turn ended), or a part of it."""
        events = process_events(one for one in self.events if not one.probe)
        number = next((n for n, one in enumerate(events) if one is event), None)
        tokens = present(event_document(event), tokens)
        return self.at(Side.PROCESS, *(() if number is None else (number, *tokens)))

    def at_end(self) -> Place:
        """How the turn ended: what it raised, if it raised something."""
        if self.failed is not None:
            return self.at(Side.ERROR)
        return self.at() if self.ended is None else self.at_event(self.ended, "outcome")

    @cached_property
    def has_user_message(self) -> bool:
        """Whether the user said something (a turn may consist of actions alone)."""
        return any(isinstance(event, t.TurnBegan) for event in self.events)

    @property
    def user_text(self) -> str:
        """What the user said in words."""
        return "".join(part.text for part in (self.script.user if self.script else ()) if isinstance(part, Text))

    @property
    def cut(self) -> Cut | None:
        """Where the scenario cancels the turn."""
        return self.script.cancel if self.script is not None else None

    @cached_property
    def cancelled(self) -> bool:
        """Whether the token was set."""
        return any(isinstance(event, t.Cancelled) for event in self.events)

    @cached_property
    def ended(self) -> t.TurnEnded | None:
        """How the turn ended, as the user saw it."""
        return next((event for event in self.events if isinstance(event, t.TurnEnded)), None)

    @cached_property
    def failed(self) -> t.Failed | None:
        """What the whole turn raised, or None."""
        found = (event for event in self.events if isinstance(event, t.Failed) and event.scope == "turn")
        return next(found, None)

    @cached_property
    def expected(self) -> Literal["answer", "error", "cancelled"] | None:
        """How the turn has to end by its script. None without a script, and where the real service made something else
        of it: it refused, it ended a call in the middle, its answer had no place for the cancel, or its model went on
        calling tools. None, too, where a recorded answer ends in a way that an adapter may return or raise, or where
        the model says something else when it is asked again: a session may go on from it or give up."""
        rounds = self.script.rounds if self.script is not None else ()
        if self.script is None or any(_ends_unusually(one) or one.again for one in rounds):
            return None
        if not self._live:
            return self.script.expect
        if self.failed is not None and self.failed.error == _NO_END:
            return None
        generating = [exchange for call in self.calls for exchange in call.generated]
        match self.script.expect:
            case "cancelled":
                went_by_script = self.cancelled
            case "error":
                went_by_script = any(not exchange.clean for exchange in generating)
            case "answer":
                went_by_script = not any(one.denied_by_service or one.malformed_by_service for one in generating)
        return self.script.expect if went_by_script else None

    @property
    def normal(self) -> bool:
        """Whether nothing was made to go wrong: no cancel, nobody who interrupts, no fault, an answer expected."""
        script = self.script
        if script is None or script.cut is not None or script.beside is not None:
            return False
        return not script.faults and self.expected == "answer"

    @cached_property
    def tool_runs(self) -> tuple[t.ToolRun, ...]:
        """The tools that ran, in call order."""
        return tuple(event for event in self.events if isinstance(event, t.ToolRun))

    @cached_property
    def retries(self) -> tuple[t.Retried, ...]:
        """The session's waits between attempts."""
        return tuple(event for event in self.events if isinstance(event, t.Retried))

    @cached_property
    def collected(self) -> t.Collected | None:
        """The collection of history in front of the turn, if there was one."""
        return next((event for event in self.events if isinstance(event, t.Collected)), None)

    @cached_property
    def loaded(self) -> t.Loaded | None:
        """The session as loaded, if the turn began with loading it; a damaged one is never gone on with."""
        return next((event for event in self.events if isinstance(event, t.Loaded) and not event.damaged), None)

    @cached_property
    def rewritten(self) -> bool:
        """Whether something was done in front of the turn that rightly takes from the history what was in it."""
        return any(isinstance(event, t.Collected | t.Reset | t.Reverted) for event in self.events)

    @cached_property
    def swapped(self) -> bool:
        """Whether the provider object was replaced in front of the turn."""
        return any(isinstance(event, t.Swapped) for event in self.events)

    @cached_property
    def history(self) -> tuple[Message, ...] | None:
        """The session's history after the turn."""
        found = [snapshot.messages for snapshot in self._snapshots if snapshot.owner == "session"]
        return found[-1] if found else None

    @cached_property
    def provider_history(self) -> tuple[Message, ...] | None:
        """The provider's own history after the turn (legacy path only)."""
        # It is written down behind the session's; a session that has left the path in this turn has no such copy now.
        last = self._snapshots[-1] if self._snapshots else None
        return last.messages if last is not None and last.owner == "provider" else None

    @cached_property
    def _snapshots(self) -> tuple[t.HistorySnapshot, ...]:
        return tuple(event for event in self.events if isinstance(event, t.HistorySnapshot))
