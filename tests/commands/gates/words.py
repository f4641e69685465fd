"""Decisions in the words that a gate has for them."""

from __future__ import annotations

from turnproof._base.settings import GateSettings
from turnproof.commands.gates.codes import gate_templates
from turnproof.commands.gates.decision import Decision
from turnproof.commands.gates.decision_words import Wording
from turnproof.commands.gates.flag import FlagPlan
from turnproof.judge.requirements import load_suite
from turnproof.session.binding import REFERENCE


def wording(phase: int = 2, **gates: object) -> Wording:
    """The words of a gate of this phase, for a session with the reference session's flag."""
    templates = {**load_suite().registry.templates, **gate_templates()}
    return Wording(templates, FlagPlan.from_settings(GateSettings(**gates), REFERENCE), phase)  # type: ignore[arg-type]


def message(decision: Decision, phase: int = 2, **gates: object) -> str:
    """What a gate of this phase says of a criterion."""
    return wording(phase, **gates).message(decision)


def codes(decision: Decision) -> list[str]:
    """The codes of the reasons, in order."""
    return [reason.finding.code for reason in decision.reasons]
