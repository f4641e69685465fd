"""How turnproof opens an agent program over the protocol. Importing it imports no client of the protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.provider import Capabilities
from turnproof.sessions import SessionCapabilities

from .program import Program

if TYPE_CHECKING:
    from .agent import AcpAgent

_CAPABILITIES = Capabilities(
    streaming=True, tools=True, parallel_tools=True, images=True, cancel=True, cancel_batch=True, typed_errors=True
)


@dataclass(frozen=True)
class AgentOpener:
    """Opens an agent; its program is started when it is needed."""

    program: Program

    def __call__(self, setup: AgentSetup) -> AcpAgent:
        from .agent import AcpAgent

        return AcpAgent(self.program, setup)


def agent_binding(program: Program, dialect: str, model: str, sessions: SessionCapabilities) -> AgentBinding:
    """The binding of a program: what every agent over the protocol can do, and what this one can do with sessions."""
    return AgentBinding(
        name=program.name,
        dialect=dialect,
        model=model,
        open=AgentOpener(program),
        capabilities=replace(_CAPABILITIES, usage=program.reports_usage),
        sessions=sessions,
        package="agent-client-protocol",
        program=lambda agent: agent.program,
    )
