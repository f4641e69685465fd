"""`turnproof explore`: random conversations and faults, down to the smallest scenario that fails."""

from .engine import explore
from .exploration import ExploreOptions
from .report import Exploration, FoundScenario

__all__ = ["Exploration", "ExploreOptions", "FoundScenario", "explore"]
