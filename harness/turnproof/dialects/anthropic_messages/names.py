"""Tool names and call ids that the API takes."""

from __future__ import annotations

import re

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]+")
