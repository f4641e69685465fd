"""How turnproof opens this agent. Importing it starts no program."""

from __future__ import annotations

from dataclasses import replace

from turnproof.agents import AgentBinding, AgentSetup

from ..claude_cli.binding import BINDING, capabilities
from .agent import ClaudeAgent
from .settings import NAME, SESSIONS


def open_agent(setup: AgentSetup) -> ClaudeAgent:
    """An agent with the session that its setup asks for, as far as there is one. Starts no process.

    Raises UsageError for settings that cannot be used, and where the program is not there.
    """
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
