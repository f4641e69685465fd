"""Tool names that the gateway takes."""

from __future__ import annotations

import re

LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
"""`antigravity.md` §4: for every model behind the gateway, and shorter than what the Gemini API itself takes."""
