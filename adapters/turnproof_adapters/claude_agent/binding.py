"""How turnproof opens this agent. Importing it starts no program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.sessions import SessionCapabilities

from ..claude_cli.binding import BINDING, capabilities

if TYPE_CHECKING:
    from .agent import ClaudeAgent

NAME = "claude_agent"

SESSIONS = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)


def open_agent(setup: AgentSetup) -> ClaudeAgent:
    """An agent with the session that its setup asks for, as far as there is one. Starts no process.

    Raises UsageError for settings that cannot be used, and where the program is not there.
    """
    from .agent import ClaudeAgent

    return ClaudeAgent(setup)


AGENT = AgentBinding(
    name=NAME,
    dialect=BINDING.dialect,
    model=BINDING.model,
    open=open_agent,
    capabilities=replace(capabilities(BINDING.model), lifecycle=False, result_images=True),
    sessions=SESSIONS,
    program=lambda agent: agent.program,
)
