"""How large a team may grow, and how long anybody waits for anybody."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ...errors import UsageError


class AgentLimitError(UsageError):
    """One more subagent would be deeper, or more, than the team's limits allow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a team.

    depth:    how many generations of subagents there may be; 0 allows none.
    children: how many subagents one agent may have at a time, working or idle.
    patience: seconds that a tool waits for a subagent before it says that this one still works.
    grace:    seconds that cancelling or closing waits for an agent to stop.
    """

    depth: int = 2
    children: int = 8
    patience: float = 300.0
    grace: float = 5.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise UsageError(f"{field.name} is not negative, got {getattr(self, field.name)!r}")
