"""The models of this dialect, under their ids and their aliases, and the features that they are asked for."""

from __future__ import annotations

from .. import catalogue
from ..catalogue import dated

__all__ = [
    "DEMANDS_SIGNATURES",
    "GIVES_IDS",
    "IMPLICIT_CACHE",
    "JSON_WITH_TOOLS",
    "MODELS",
    "RETIRED",
    "SIGNS",
    "THINKS",
    "dated",
    "same_model",
]

GIVES_IDS = "call-ids"
SIGNS = "signs"
DEMANDS_SIGNATURES = "demands-signatures"
THINKS = "thinks"
IMPLICIT_CACHE = "implicit-cache"
JSON_WITH_TOOLS = "json-with-tools"
RETIRED = "retired"

MODELS = catalogue.load(__package__)


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model."""
    return catalogue.same_model(MODELS, a, b)
