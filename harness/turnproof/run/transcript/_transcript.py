"""The events together, which run it was, and the transcript of one run."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeVar

import msgspec

from ...provider import Path
from . import _agents, _event, _operations, _turns, _watched, _wire

Event: TypeAlias = (
    _turns.SessionOpened
    | _turns.TurnBegan
    | _turns.CallBegan
    | _wire.WireRequest
    | _wire.WireResponse
    | _turns.Chunk
    | _turns.Thinking
    | _turns.FunctionCallDetected
    | _turns.UsageUpdate
    | _turns.LateCallback
    | _turns.Response
    | _turns.Failed
    | _turns.Cancelled
    | _turns.Interjected
    | _turns.ToolRun
    | _turns.ToolWentOn
    | _turns.Retried
    | _operations.Collected
    | _operations.Saved
    | _operations.Loaded
    | _operations.Swapped
    | _operations.Reset
    | _operations.Reverted
    | _operations.Refused
    | _operations.HelperCalled
    | _operations.UsageReport
    | _operations.ContextReport
    | _watched.SpanMade
    | _watched.ProviderSeen
    | _watched.ProviderTouched
    | _watched.ProviderHolds
    | _watched.ProviderAsked
    | _watched.Accounts
    | _agents.SessionStepped
    | _agents.SessionInForce
    | _agents.SaidBeside
    | _agents.Killed
    | _agents.LeftBehind
    | _turns.ChildEnded
    | _turns.AgentsWatched
    | _turns.TakenBack
    | _turns.HistorySnapshot
    | _turns.TurnEnded
    | _turns.RunEnded
)

E = TypeVar("E", bound=_event.BaseEvent)


class RunKey(msgspec.Struct, frozen=True, order=True):
    """Which run: scenario × path × mode; `repeat` 1 is the second legacy run that measures noise."""

    scenario: str
    path: Path
    mode: Literal["stream", "batch"] = "stream"
    repeat: int = 0

    def __str__(self) -> str:
        return f"{self.scenario}/{self.path}/{self.mode}" + (f"#{self.repeat}" if self.repeat else "")


class Transcript(msgspec.Struct, frozen=True):
    """One run of one scenario on one path, as evidence."""

    adapter: str
    dialect: str
    model: str
    backend: str
    key: RunKey
    seed: int
    events: tuple[Event, ...]

    def of(self, *kinds: type[E]) -> list[E]:
        """The events of these kinds, in order."""
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def end(self) -> _turns.RunEnded:
        """How the run ended."""
        last = self.events[-1]
        assert isinstance(last, _turns.RunEnded)
        return last
