"""The requirement catalogue, the checks that decide it, and the verdicts that come of both."""

from __future__ import annotations

from .allowed_only import ALLOWED_ONLY_FILE, AllowedOnly
from .catalogue import Catalogue, ProfileSet, Suite, load_suite
from .judge import judge, judge_parity
from .model import PROFILES, Level, Requirement, concerns, in_words
from .registry import (
    REGISTRY,
    Aspect,
    Check,
    FindingCode,
    Findings,
    Registry,
    check,
    compare_modes,
    finding,
    findings_or_compared,
)
from .scenario_index import SHOWN_FILE, Shown, ShownFile

__all__ = [
    "ALLOWED_ONLY_FILE",
    "PROFILES",
    "REGISTRY",
    "SHOWN_FILE",
    "AllowedOnly",
    "Aspect",
    "Catalogue",
    "Check",
    "FindingCode",
    "Findings",
    "Level",
    "ProfileSet",
    "Registry",
    "Requirement",
    "Shown",
    "ShownFile",
    "Suite",
    "check",
    "compare_modes",
    "concerns",
    "finding",
    "findings_or_compared",
    "in_words",
    "judge",
    "judge_parity",
    "load_suite",
]
