"""The reference session: it owns the history and drives a provider through turns."""

from __future__ import annotations

from ..subject import Tool, ToolOutput
from .history import SessionHistory
from .loop import TooManyRounds
from .pairing import is_paired, repair
from .persistence import SavedSessionError
from .result import TurnResult
from .retry import RetryPolicy, wait_for_token
from .session import Session

__all__ = [
    "RetryPolicy",
    "SavedSessionError",
    "Session",
    "SessionHistory",
    "TooManyRounds",
    "Tool",
    "ToolOutput",
    "TurnResult",
    "is_paired",
    "repair",
    "wait_for_token",
]
