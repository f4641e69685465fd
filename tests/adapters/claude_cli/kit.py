"""What the tests of this adapter share: the program, scripted or real, and an API for it to ask."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


@contextmanager
def api(script: Mapping[str, Any] = SCRIPT) -> Iterator[Api]:
    with EmulatorServer() as server:
        yield Api(server, BINDING.dialect, script)


@contextmanager
def provider(base_url: str, program: str = PROGRAM, **options: Any) -> Iterator[ClaudeCliStateless]:
    """An open provider, shut down behind."""
    assert BINDING.open_stateless is not None
    opened = BINDING.open_stateless(Endpoint(base_url, CANARY_KEY, MODEL, {"program": program, **options}))
    assert isinstance(opened, ClaudeCliStateless)
    try:
        yield opened
    finally:
        opened.shutdown()


@contextmanager
def legacy(base_url: str, program: str = PROGRAM, **options: Any) -> Iterator[ClaudeCliLegacy]:
    """The same for the legacy path, with the script's system text and tool."""
    assert BINDING.open_legacy is not None
    opened = BINDING.open_legacy(Endpoint(base_url, CANARY_KEY, MODEL, {"program": program, **options}))
    assert isinstance(opened, ClaudeCliLegacy)
    try:
        opened.create_session(SYSTEM, [SENSOR])
        yield opened
    finally:
        opened.shutdown()
