"""The provider emulator: a real HTTP server on loopback that accepts and refuses what the real API does.

The server is imported when it is asked for: a worker process never starts one, and what it needs takes as long to
import as everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.lazy import lazily
from .responders import CIRCLE, ROUND_LIMIT, CassetteResponder, Responder, ScriptResponder
from .server_run import Exchange, ServerRun

if TYPE_CHECKING:
    from .http_server import EmulatorServer
else:  # a type checker that saw it would take any name
    __getattr__ = lazily(__name__, {"EmulatorServer": "http_server"})

__all__ = [
    "CIRCLE",
    "ROUND_LIMIT",
    "CassetteResponder",
    "EmulatorServer",
    "Exchange",
    "Responder",
    "ScriptResponder",
    "ServerRun",
]
