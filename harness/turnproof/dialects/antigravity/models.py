"""The models of this dialect, which of them is Anthropic's behind Gemini's form, and the tool names they take."""

from __future__ import annotations

import re

from ..base import ModelFacts
from ..catalogue import load

MODELS = load(__package__)

_CLAUDE = "claude"


def is_claude(facts: ModelFacts | None) -> bool:
    """Whether Anthropic's rules apply to a model, under the syntax of Gemini."""
    return facts is not None and _CLAUDE in facts.features


def is_gemini(facts: ModelFacts | None) -> bool:
    """Whether a model has the rules of Gemini, too."""
    return facts is not None and facts.id.startswith("gemini-")


LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
"""`antigravity.md` §4: for every model behind the gateway, and shorter than what the Gemini API itself takes."""
