"""The models of this dialect, and which of them is somebody else's behind Gemini's form."""

from __future__ import annotations

from .. import catalogue
from ..base import ModelFacts

MODELS = catalogue.load(__package__)

_CLAUDE = "claude"


def is_claude(facts: ModelFacts | None) -> bool:
    """Whether Anthropic's rules apply to a model, under the syntax of Gemini."""
    return facts is not None and _CLAUDE in facts.features


def is_gemini(facts: ModelFacts | None) -> bool:
    """Whether a model has the rules of Gemini, too."""
    return facts is not None and facts.id.startswith("gemini-")
