"""The reference session: it owns the history and drives a provider through turns."""

from __future__ import annotations

from ..subject import Tool, ToolOutput
from .approval import Approval, Approve
from .background import Task, TaskStatus
from .enrichment import PromptHook, enrich_in_order
from .history import SessionHistory
from .inbox import Sender
from .ledger import LedgerRow, TokenLedger
from .loop import TooManyRounds
from .missing_call import CallMissing
from .observer import Mode, SessionObserver, Source, Status
from .pairing import is_paired, repair
from .persistence import SavedSessionError
from .prompt import Enrich, Enriched, Typed
from .request_pacer import RequestPacer
from .result import TurnResult
from .retry import Retry, RetryPolicy, wait_for_token
from .session import Session
from .tracing import Tracing

__all__ = [
    "Approval",
    "Approve",
    "CallMissing",
    "Enrich",
    "Enriched",
    "LedgerRow",
    "Mode",
    "PromptHook",
    "RequestPacer",
    "Retry",
    "RetryPolicy",
    "SavedSessionError",
    "Sender",
    "Session",
    "SessionHistory",
    "SessionObserver",
    "Source",
    "Status",
    "Task",
    "TaskStatus",
    "TokenLedger",
    "TooManyRounds",
    "Tool",
    "ToolOutput",
    "Tracing",
    "TurnResult",
    "Typed",
    "enrich_in_order",
    "is_paired",
    "repair",
    "wait_for_token",
]
