"""The reference session: it owns the history and drives a provider through turns."""

from __future__ import annotations

from ..subject import Tool, ToolOutput
from .history import SessionHistory
from .loop import TooManyRounds
from .observer import Mode, Retry, SessionObserver, Source, Status
from .pairing import is_paired, repair
from .persistence import SavedSessionError
from .result import TurnResult
from .retry import RetryPolicy, wait_for_token
from .session import Session

__all__ = [
    "Mode",
    "Retry",
    "RetryPolicy",
    "SavedSessionError",
    "Session",
    "SessionHistory",
    "SessionObserver",
    "Source",
    "Status",
    "TooManyRounds",
    "Tool",
    "ToolOutput",
    "TurnResult",
    "is_paired",
    "repair",
    "wait_for_token",
]
