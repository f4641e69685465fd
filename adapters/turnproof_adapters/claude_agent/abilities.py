"""What the agent is called, and what can be done with its sessions."""

from __future__ import annotations

from turnproof.sessions import SessionCapabilities

NAME = "claude_agent"

SESSIONS = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)
