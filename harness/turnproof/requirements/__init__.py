"""The requirement catalogue, the checks that decide it, and the verdicts that come of both."""

from __future__ import annotations

from .catalogue import Catalogue, ProfileSet, Suite, load_suite
from .judging import judge, judge_parity
from .model import PROFILES, Level, Requirement, concerns, in_words
from .registry import REGISTRY, Aspect, Check, Findings, Registry, check, compare_modes

__all__ = [
    "PROFILES",
    "REGISTRY",
    "Aspect",
    "Catalogue",
    "Check",
    "Findings",
    "Level",
    "ProfileSet",
    "Registry",
    "Requirement",
    "Suite",
    "check",
    "compare_modes",
    "concerns",
    "in_words",
    "judge",
    "judge_parity",
    "load_suite",
]
