"""The stand-in as an agent of its own: `turnproof certify adapters.acp.bound:AGENT` runs the suites with it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from turnproof_adapters.acp.claude import AGENT as CLAUDE

STANDIN = (sys.executable, str(Path(__file__).with_name("standin")))
"""Its command."""

AGENT = replace(CLAUDE, name="acp_standin", options={"program": STANDIN})
