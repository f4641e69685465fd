"""What the tests of this adapter share: the program, scripted or real, and an API for it to ask."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from turnproof.provider import Endpoint
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_adapters.claude_cli.binding import BINDING
from turnproof_adapters.claude_cli.legacy import ClaudeCliLegacy
from turnproof_adapters.claude_cli.stateless import ClaudeCliStateless

from ..emulated_conversation import SCRIPT, SENSOR, SYSTEM, Api

REAL = os.environ.get("TURNPROOF_CLAUDE")
"""The real program, where there is one."""

PROGRAM = REAL or str(Path(__file__).with_name("standin.py"))
"""The program under test: what the variable names, or the stand-in."""

MODEL = "claude-haiku-4-5"

P = TypeVar("P", ClaudeCliStateless, ClaudeCliLegacy)


@contextmanager
def api(script: Mapping[str, Any] = SCRIPT) -> Iterator[Api]:
    with EmulatorServer() as server:
        yield Api(server, BINDING.dialect, script)


@contextmanager
def _opened(opener: Any, kind: type[P], base_url: str, options: Mapping[str, Any]) -> Iterator[P]:
    opened = opener(Endpoint(base_url, CANARY_KEY, MODEL, options))
    assert isinstance(opened, kind)
    try:
        yield opened
    finally:
        opened.shutdown()


@contextmanager
def provider(base_url: str, program: str = PROGRAM, **options: Any) -> Iterator[ClaudeCliStateless]:
    """An open provider, shut down behind."""
    with _opened(BINDING.open_stateless, ClaudeCliStateless, base_url, {"program": program, **options}) as opened:
        yield opened


@contextmanager
def legacy(base_url: str, program: str = PROGRAM, **options: Any) -> Iterator[ClaudeCliLegacy]:
    """The same for the legacy path, with the script's system text and tool."""
    with _opened(BINDING.open_legacy, ClaudeCliLegacy, base_url, {"program": program, **options}) as opened:
        opened.create_session(SYSTEM, [SENSOR])
        yield opened
