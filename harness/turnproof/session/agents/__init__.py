"""Several sessions at work together: a runtime that they share, and a team with a lead and its subagents."""

from __future__ import annotations

from .agent import Agent, AgentStatus
from .feed import AgentFeed
from .limits import AgentLimitError, Limits
from .provider_sources import ProviderSource
from .report import Report, ReportKind
from .runtime import Runtime
from .shared_state import SharedState, SharedValue, shared_state_tools
from .team import SUBAGENT_SYSTEM, Team
from .tools import subagent_tools

__all__ = [
    "SUBAGENT_SYSTEM",
    "Agent",
    "AgentFeed",
    "AgentLimitError",
    "AgentStatus",
    "Limits",
    "ProviderSource",
    "Report",
    "ReportKind",
    "Runtime",
    "SharedState",
    "SharedValue",
    "Team",
    "shared_state_tools",
    "subagent_tools",
]
