"""The events together, which run it was, and the transcript of one run."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeVar

import msgspec

from ...provider import Path
from ._agents import Killed, LeftBehind, SaidBeside, SessionInForce, SessionStepped
from ._event import BaseEvent
from ._operations import Collected, ContextReport, Loaded, Refused, Reset, Reverted, Saved, Swapped, UsageReport
from ._turns import (
    CallBegan,
    Cancelled,
    Chunk,
    Failed,
    FunctionCallDetected,
    HistorySnapshot,
    Interjected,
    LateCallback,
    Response,
    Retried,
    RunEnded,
    SessionOpened,
    Thinking,
    ToolRun,
    TurnBegan,
    TurnEnded,
    UsageUpdate,
)
from ._watched import Accounts, ProviderAsked, ProviderHolds, ProviderSeen, ProviderTouched, SpanMade
from ._wire import WireRequest, WireResponse

Event: TypeAlias = (
    SessionOpened
    | TurnBegan
    | CallBegan
    | WireRequest
    | WireResponse
    | Chunk
    | Thinking
    | FunctionCallDetected
    | UsageUpdate
    | LateCallback
    | Response
    | Failed
    | Cancelled
    | Interjected
    | ToolRun
    | Retried
    | Collected
    | Saved
    | Loaded
    | Swapped
    | Reset
    | Reverted
    | Refused
    | UsageReport
    | ContextReport
    | SpanMade
    | ProviderSeen
    | ProviderTouched
    | ProviderHolds
    | ProviderAsked
    | Accounts
    | SessionStepped
    | SessionInForce
    | SaidBeside
    | Killed
    | LeftBehind
    | HistorySnapshot
    | TurnEnded
    | RunEnded
)

E = TypeVar("E", bound=BaseEvent)


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
    def end(self) -> RunEnded:
        """How the run ended."""
        last = self.events[-1]
        assert isinstance(last, RunEnded)
        return last
