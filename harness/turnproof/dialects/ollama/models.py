"""The models of this dialect, under their names with and without the tag `latest`."""

from __future__ import annotations

from ..base import ModelFacts
from ..catalogue import load

TOOLS, THINKING, VISION = "tools", "thinking", "vision"
MODELS = load(__package__)


def capabilities(facts: ModelFacts) -> list[str]:
    """What the model can do, as the server lists it."""
    return ["completion", *(each for each in (VISION, TOOLS, THINKING) if each in facts.features)]


def feature(facts: ModelFacts, name: str) -> str:
    """The value of a feature `NAME:VALUE`; empty without it."""
    return next((each.partition(":")[2] for each in facts.features if each.startswith(f"{name}:")), "")


def full_name(model: str) -> str:
    """A model's name with its registry and its tag."""
    tagged = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    return tagged if tagged.count("/") > 1 else f"registry.ollama.ai/{tagged if '/' in tagged else f'library/{tagged}'}"
