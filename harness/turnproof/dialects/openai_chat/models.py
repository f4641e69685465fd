"""The models of this dialect with their features, and the tool names and call ids that the API takes."""

from __future__ import annotations

import re

from ..catalogue import load

COMPLETION_TOKENS = "completion-tokens"
FIXED_SAMPLING = "fixed-sampling"
IMPLICIT_CACHE = "implicit-cache"
NO_SYSTEM = "no-system"
ONE_INDEX = "one-index"
ONE_TOKEN_STEPS = "one-token-steps"
RETIRED = "retired"
THINKS = "thinks"
WITHDRAWN = "withdrawn"

MODELS = load(__package__)

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]+")
LONGEST_NAME = 64
"""Pattern and length are refused in words of their own."""

LONGEST_ID = 40
