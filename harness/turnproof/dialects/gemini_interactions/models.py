"""The models of this dialect with their features, and the tool names that the API takes."""

from __future__ import annotations

import re

from ..catalogue import load

SIGNS = "signs"
IMPLICIT_CACHE = "implicit-cache"

MODELS = load(__package__)

LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
"""The API's own description of a function does not limit its name; the service hands it to the models that `gemini`
serves, whose declarations are limited like that."""
