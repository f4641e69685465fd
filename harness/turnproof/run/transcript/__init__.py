"""The record of one run: an ordered list of typed events, from both sides of the adapter.

The order is logical, not temporal: within one provider call the wire exchanges come first, then what the adapter
called back, then how it ended. Two runs with the same seed give the same list, so that its digest means something.
"""

from ._agents import Killed, LeftBehind, SaidBeside, SessionInForce, SessionListed, SessionStepped
from ._operations import (
    Collected,
    ContextReport,
    HelperCalled,
    Loaded,
    Refused,
    Reset,
    Reverted,
    Saved,
    Swapped,
    UsageReport,
)
from ._transcript import Event, RunKey, Transcript
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

__all__ = [
    "Accounts",
    "CallBegan",
    "Cancelled",
    "Chunk",
    "Collected",
    "ContextReport",
    "Event",
    "Failed",
    "FunctionCallDetected",
    "HelperCalled",
    "HistorySnapshot",
    "Interjected",
    "Killed",
    "LateCallback",
    "LeftBehind",
    "Loaded",
    "ProviderAsked",
    "ProviderHolds",
    "ProviderSeen",
    "ProviderTouched",
    "Refused",
    "Reset",
    "Response",
    "Retried",
    "Reverted",
    "RunEnded",
    "RunKey",
    "SaidBeside",
    "Saved",
    "SessionInForce",
    "SessionListed",
    "SessionOpened",
    "SessionStepped",
    "SpanMade",
    "Swapped",
    "Thinking",
    "ToolRun",
    "Transcript",
    "TurnBegan",
    "TurnEnded",
    "UsageReport",
    "UsageUpdate",
    "WireRequest",
    "WireResponse",
]
