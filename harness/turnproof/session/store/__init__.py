"""Sessions that outlive the process: stored turn by turn, found again, and shared by several clients."""

from __future__ import annotations

from ..persistence import Connection, InterruptedTurn, SessionState
from .client import Client
from .conversations import ConversationManager, ConversationReply, ConversationRequest, complete_with, converse_with
from .errors import ForkedSessionError, SessionBusyError, StoreError, StoreFullError, UnknownSessionError
from .file_store import FileStore, Loaded
from .files import Files, Handle, LocalFiles
from .journal import Problem
from .manager import SessionManager
from .providers import ProviderRegistry
from .signals import exit_on_sigterm
from .stored_session import KeptSession

__all__ = [
    "Client",
    "Connection",
    "ConversationManager",
    "ConversationReply",
    "ConversationRequest",
    "FileStore",
    "Files",
    "ForkedSessionError",
    "Handle",
    "InterruptedTurn",
    "KeptSession",
    "Loaded",
    "LocalFiles",
    "Problem",
    "ProviderRegistry",
    "SessionBusyError",
    "SessionManager",
    "SessionState",
    "StoreError",
    "StoreFullError",
    "UnknownSessionError",
    "complete_with",
    "converse_with",
    "exit_on_sigterm",
]
