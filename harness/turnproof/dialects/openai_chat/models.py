"""The models of this dialect, and the features that they are asked for."""

from __future__ import annotations

from .. import catalogue
from ..catalogue import dated

__all__ = [
    "COMPLETION_TOKENS",
    "FIXED_SAMPLING",
    "IMPLICIT_CACHE",
    "MODELS",
    "NO_SYSTEM",
    "ONE_INDEX",
    "ONE_TOKEN_STEPS",
    "RETIRED",
    "THINKS",
    "WITHDRAWN",
    "dated",
    "same_model",
]

COMPLETION_TOKENS = "completion-tokens"
FIXED_SAMPLING = "fixed-sampling"
IMPLICIT_CACHE = "implicit-cache"
NO_SYSTEM = "no-system"
ONE_INDEX = "one-index"
ONE_TOKEN_STEPS = "one-token-steps"
RETIRED = "retired"
THINKS = "thinks"
WITHDRAWN = "withdrawn"

MODELS = catalogue.load(__package__)


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model."""
    return catalogue.same_model(MODELS, a, b)
