"""A conversation about a greenhouse, with a tool that reads its sensors, and an API that answers it from a script.

For what drives programs: they ask the emulator, the stand-in as the real one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnproof.dialects import dialect
from turnproof.messages import ToolSchema
from turnproof.scenarios.loader import from_data
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun

SYSTEM = "You keep a greenhouse log."

SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object", "properties": {"bed": {"type": "string"}}})

SCRIPT: Mapping[str, Any] = {
    "title": "A question, two calls, an answer, and two more questions",
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
        {"user": "Good night.", "model": [["Good ", "night."]]},
    ],
}

QUESTIONS = tuple(turn["user"] for turn in SCRIPT["turns"])


class Api:
    """The emulator, answering one run from a script, in a dialect."""

    def __init__(self, server: EmulatorServer, speaks: str, script: Mapping[str, Any]) -> None:
        self._scenario = from_data(script, "greenhouse")
        self.run: ServerRun = server.open_run(dialect(speaks), ScriptResponder(), seed="0/greenhouse")

    def arm(self, turn: int) -> None:
        """Answer this turn from now on."""
        self.run.arm(turn, self._scenario.turns[turn], self._scenario.tools_in(turn))

    @property
    def calls(self) -> list[Any]:
        """The requests so far, read by the dialect."""
        found = [self.run.dialect.parse(one.request, self.run.world) for one in self.run.exchanges]
        return [call for call in found if getattr(call, "operation", "") == "generate"]
