"""The stand-in as an agent of its own: `turnproof certify adapters.claude_agent.bound:AGENT`, from `tests/`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from turnproof_adapters.claude_agent.binding import AGENT as CLAUDE

AGENT = replace(CLAUDE, name="claude_standin", options={"program": str(Path(__file__).with_name("standin.py"))})
