"""The provider emulator: a real HTTP server on loopback that accepts and refuses what the real API does."""

from __future__ import annotations

from .front import EmulatorServer
from .responders import CassetteResponder, Responder, ScriptResponder
from .run import Exchange, ServerRun

__all__ = ["CassetteResponder", "EmulatorServer", "Exchange", "Responder", "ScriptResponder", "ServerRun"]
