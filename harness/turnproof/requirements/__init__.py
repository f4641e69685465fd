"""The requirement catalogue, the checks that decide it, and the verdicts that come of both."""

from __future__ import annotations

from .catalogue import Catalogue, ProfileSet, Suite, load_suite
from .judging import judge, judge_parity, stale_differences
from .model import PROFILES, Level, Requirement
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
    "judge",
    "judge_parity",
    "load_suite",
    "stale_differences",
]
