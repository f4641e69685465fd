"""What the agent is called, what can be done with its sessions, and what it is run with: its endpoint's options, parsed
once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnproof.agents import AgentSetup
from turnproof.sessions import SessionCapabilities

from .._calling import Prompt
from .._http import DEFAULT_TIMEOUT
from .._open_provider import positive_setting, read_api_key
from ..anthropic.request import Settings
from ..anthropic.service import ANTHROPIC
from ..claude_cli.lifecycle import CLAUDE_CLI
from ..claude_cli.program import Program

NAME = "claude_agent"

SESSIONS = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)
"""What can be done with its sessions."""

_FIXED_OPTIONS = ("--system-prompt-snapshot=off",)
"""The system text of the setup is sent also where the session began with another."""


@dataclass(frozen=True, slots=True)
class Running:
    """How the program is started for one agent."""

    program: Program
    model: str
    system: str
    limits: dict[str, Any]
    silence: float

    @classmethod
    def from_setup(cls, setup: AgentSetup) -> Running:
        """From a setup. `program`, `max_tokens`, `thinking` and `timeout` (seconds of silence after which the program
        counts as lost) are options of its endpoint. Raises UsageError for what cannot be."""
        endpoint, options = setup.endpoint, setup.endpoint.options
        key = read_api_key({"api_key": endpoint.api_key}, *ANTHROPIC.key_variables)
        program = Program.from_settings(
            {**options, "cwd": setup.cwd, "base_url": endpoint.base_url}, key, Path(setup.home)
        )
        thinking = CLAUDE_CLI.thinking(options.get("thinking"))
        settings = Settings(CLAUDE_CLI, endpoint.model, positive_setting(options, "max_tokens"), thinking)
        limits = settings.kwargs(Prompt(()), think=True)
        silence = float(options.get("timeout", DEFAULT_TIMEOUT))
        return cls(program, endpoint.model, setup.system or "", limits, silence)

    def command(self, session_id: str | None) -> list[str]:
        """The command line, to go on with a session or to begin one."""
        resumed = () if session_id is None else (f"--resume={session_id}",)
        return self.program.command(self.model, self.system, *_FIXED_OPTIONS, *resumed)

    def environment(self) -> dict[str, str]:
        """All that the program sees of the environment."""
        return self.program.environment(self.limits["max_tokens"], self.limits.get("thinking"))
