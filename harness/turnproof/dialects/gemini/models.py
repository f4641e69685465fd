"""The models of this dialect with their features, and the tool names and call ids that the API takes."""

from __future__ import annotations

import re

from ..catalogue import load

GIVES_IDS = "call-ids"
SIGNS = "signs"
DEMANDS_SIGNATURES = "demands-signatures"
THINKS = "thinks"
IMPLICIT_CACHE = "implicit-cache"
JSON_WITH_TOOLS = "json-with-tools"
RETIRED = "retired"

MODELS = load(__package__)

LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
"""`FunctionDeclaration.name` in google-genai 3.4: "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or
contain underscores, dots, colons and dashes, with a maximum length of 128." Older texts end at 64: see `NameMap`."""
