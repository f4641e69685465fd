"""What the tests of this adapter share: the program, scripted or real, and an API for it to ask."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turnproof.dialects import dialect
from turnproof.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof.emulator.run import CANARY_KEY
from turnproof.messages import ToolSchema
from turnproof.provider import Endpoint
from turnproof.scenarios.loader import from_data
from turnproof_adapters.claude_cli.binding import BINDING
from turnproof_adapters.claude_cli.legacy import ClaudeCliLegacy
from turnproof_adapters.claude_cli.stateless import ClaudeCliStateless

PROGRAM = os.environ.get("TURNPROOF_CLAUDE") or str(Path(__file__).with_name("standin.py"))
"""The program under test: what the variable names, or the stand-in."""

MODEL = "claude-haiku-4-5"
SYSTEM = "You keep a greenhouse log."

SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object", "properties": {"bed": {"type": "string"}}})

SCRIPT: Mapping[str, Any] = {
    "title": "A question, two calls, an answer, and one more question",
    "system": SYSTEM,
    "tools": [{"name": "read_sensor", "description": "Read one sensor", "takes": {"bed": "string"}}],
    "results": {"read_sensor": "41 %"},
    "turns": [
        {
            "user": "How moist are beds 3 and 4?",
            "model": [
                [
                    "Let me look.",
                    {"call": "read_sensor", "args": {"bed": "3"}},
                    {"call": "read_sensor", "args": {"bed": "4"}},
                ],
                ["Both are at 41 %."],
            ],
        },
        {"user": "And bed 5?", "model": [["I ", "cannot ", "say."]]},
    ],
}


class Api:
    """The emulator, answering one run from a script."""

    def __init__(self, server: EmulatorServer, script: Mapping[str, Any]) -> None:
        self._scenario = from_data(script, "claude")
        self.run: ServerRun = server.open_run(dialect(BINDING.dialect), ScriptResponder(), seed="0/claude")

    def arm(self, turn: int) -> None:
        """Answer this turn from now on."""
        self.run.arm(turn, self._scenario.turns[turn], self._scenario.tools_in(turn))

    @property
    def calls(self) -> list[Any]:
        """The requests so far, read by the dialect."""
        found = [self.run.dialect.parse(one.request, self.run.world) for one in self.run.exchanges]
        return [call for call in found if getattr(call, "operation", "") == "generate"]


@contextmanager
def api(script: Mapping[str, Any] = SCRIPT) -> Iterator[Api]:
    with EmulatorServer() as server:
        yield Api(server, script)


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
