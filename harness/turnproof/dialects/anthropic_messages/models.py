"""The models of this dialect, under their dated ids and their aliases, and the names and ids that the API takes."""

from __future__ import annotations

import re

from ..catalogue import load

MODELS = load(__package__)

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
