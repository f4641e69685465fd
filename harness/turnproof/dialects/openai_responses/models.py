"""The models of this dialect, under their dated ids and their aliases."""

from __future__ import annotations

from .. import catalogue
from ..catalogue import dated

__all__ = ["MODELS", "NO_SAMPLING", "ONE_TOKEN_STEPS", "PHASES", "dated", "same_model"]

MODELS = catalogue.load(__package__)

NO_SAMPLING = "no-sampling"
PHASES = "phases"
ONE_TOKEN_STEPS = "one-token-steps"


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model."""
    return catalogue.same_model(MODELS, a, b)
