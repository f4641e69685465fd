"""The verdict on a requirement as a decision on the criterion that asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...judge.verdict import Status, Verdict
from .codes import ReasonCode, is_not_asked, leaves_undecided
from .decision import Acceptance, Decision, Reason, decided

_NOTHING_COMPARED = leaves_undecided(
    "requirements/nothing-compared",
    "A requirement could not be decided.",
    "a run that shows {requirement:words}",
    "none",
)
_UNDECIDED = leaves_undecided(
    "requirements/undecided", "A requirement could not be decided.", observed="{requirement:words}: {because:words}"
)
_NOT_CLAIMED = is_not_asked(
    "requirements/not-claimed", "A requirement does not apply.", observed="{requirement:words}: {because:words}"
)
_WITHOUT_FINDINGS: Mapping[Status, ReasonCode] = {
    Status.INCONCLUSIVE: _UNDECIDED,
    Status.NOT_CLAIMED: _NOT_CLAIMED,
}


def decision_of(requirement: str, verdict: Verdict, acceptance: Acceptance | None = None) -> Decision:
    """The findings of the verdict are the reasons, as they are; what has none says in the verdict's words why."""
    if verdict.status is Status.HELD:
        return decided(compared=[f"{requirement} ×{len(verdict.evidence)}"])
    if verdict.compared_nothing:
        return decided([_NOTHING_COMPARED(requirement=requirement)])
    if not verdict.findings:
        code = _WITHOUT_FINDINGS[verdict.status]
        more: dict[str, Any] = {"detail": verdict.detail} if verdict.detail else {}
        return decided([code(requirement=requirement, because=verdict.message, evidence=verdict.evidence, **more)])
    reasons = (
        Reason(status=verdict.status, finding=finding, evidence=verdict.evidence, acceptance=acceptance)
        for finding in verdict.findings
    )
    return decided(reasons, more=verdict.total - len(verdict.findings))
