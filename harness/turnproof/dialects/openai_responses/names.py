"""Tool names and call ids that the API takes."""

from __future__ import annotations

import re

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LEGAL_ID = re.compile(r".{1,64}", re.DOTALL)
"""Only the length of a `call_id` is checked (orchidfiles/ungate#41, tried against the live service)."""
