"""What is accepted for now: known issues of requirements, and exemptions of adapters from criteria.

Either has a reason and a day on which it ends. One that has expired, has no reason, or is no longer needed closes the
criterion that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from msgspec.structs import replace

from ..._base.settings import Exemption
from ..._base.suggestions import did_you_mean
from ...errors import UsageError
from ...judge.known_issues import apply_known_issues
from ...judge.run_log import ResultLine
from ...judge.verdict import Status, Verdict
from ...provider import Path
from ...subject import Subject
from .codes import closes
from .decision import Acceptance, Decision, Reason, decided
from .measurement import Measured
from .model import STATE_OF
from .phases import Phases
from .verdict_decision import decision_of

_BAD_KNOWN_ISSUE = closes(
    "known-issue/not-valid",
    "A known issue is not valid.",
    "",
    "{because:words}",
)
_WITHOUT_REASON = closes(
    "exemption/without-reason",
    "An exemption has no reason: write down why the criterion need not hold.",
    "a reason in the exemption of {adapter:words} from {criterion:words}",
    "a blank text",
)
_EXPIRED = closes(
    "exemption/expired",
    "An exemption has expired: mend the adapter, or extend the exemption with a reason.",
    "an exemption of {adapter:words} from {criterion:words} that still counts on {expected:words}",
    "one that expired on {observed:words}",
)
_NOT_NEEDED = closes(
    "exemption/not-needed",
    "An exemption is no longer needed: remove the entry.",
    "no exemption of {adapter:words} from {criterion:words}",
    "one, and the criterion is {observed:words}",
)


def accepted(measured: Measured, requirement: str, path: Path, verdict: Verdict) -> Decision:
    """What the verdict on a requirement decides, as the known issues leave it."""
    name = measured.subject.name
    issues = [replace(one, adapter=name) for one in measured.issues if one.key[1:] == (requirement, path)]
    line = ResultLine(adapter=name, requirement=requirement, path=path, verdict=verdict)
    in_part = () if measured.whole else (requirement,)
    (marked,), problems = apply_known_issues([line], issues, measured.today, in_part=in_part)
    if problems:
        wrong = _BAD_KNOWN_ISSUE(requirement=requirement, because=problems[0])
        found = decision_of(requirement, verdict)
        return decided([wrong, *found.reasons], more=found.more)
    if marked.verdict.status is not Status.KNOWN_ISSUE:
        return decision_of(requirement, marked.verdict)
    issue = issues[-1]
    acceptance = Acceptance("known-issue", issue.expires, issue.reason, issue.link)
    return decision_of(requirement, marked.verdict, acceptance)


def names_of(spec: str, subject: Subject) -> set[str]:
    """What a subject may be called in the settings."""
    return {spec, subject.name, subject.adapter.name, spec.rpartition("@")[2]}


def exempted(
    decision: Decision,
    criterion: str,
    exemptions: Iterable[Exemption],
    names: set[str],
    today: date,
    *,
    all_scenarios: bool,
) -> Decision:
    """A decision as the exemptions of this subject leave it. Without all scenarios nobody knows what is not needed."""
    for exemption in exemptions:
        if exemption.adapter in names and exemption.criterion == criterion:
            return _exempted(decision, exemption, today, all_scenarios=all_scenarios)
    return decision


def _exempted(decision: Decision, exemption: Exemption, today: date, *, all_scenarios: bool) -> Decision:
    needed = decision.status in (Status.VIOLATED, Status.INCONCLUSIVE)
    if (wrong := _not_valid(exemption, decision, today, unneeded=all_scenarios and not needed)) is not None:
        reasons = [wrong, *(replace(reason, status=Status.VIOLATED) for reason in decision.reasons if needed)]
        return decided(reasons, more=decision.more)
    if not needed:
        return decision
    acceptance = Acceptance("exemption", exemption.expires, exemption.reason, exemption.link)
    return replace(
        decision,
        status=Status.KNOWN_ISSUE,
        reasons=tuple(replace(one, status=Status.KNOWN_ISSUE, acceptance=acceptance) for one in decision.reasons),
    )


def _not_valid(exemption: Exemption, decision: Decision, today: date, *, unneeded: bool) -> Reason | None:
    """What is wrong with an exemption, if anything is."""
    about: dict[str, Any] = {"adapter": exemption.adapter, "criterion": exemption.criterion}
    if not exemption.reason.strip():
        return _WITHOUT_REASON(**about)
    if exemption.expires < today:
        return _EXPIRED(expected=str(today), observed=str(exemption.expires), **about)
    if unneeded:
        return _NOT_NEEDED(observed=STATE_OF[decision.status], **about)
    return None


def check_exemptions(
    exemptions: Sequence[Exemption], phases: Phases, phase: int, subjects: Iterable[set[str]], *, every: bool
) -> None:
    """Raise UsageError for an exemption from a criterion that there is not; and, where `every` adapter takes part, for
    one of an adapter that is none of them."""
    ids = [criterion.id for criterion in phases.criterion]
    criteria = {*phases[phase].entry, *phases[phase].exit}
    known = set().union(*subjects)
    for number, exemption in enumerate(exemptions):
        spot = f"gates: exemption[{number}]"
        if exemption.criterion not in ids:
            hint = did_you_mean(exemption.criterion, ids)
            raise UsageError(f"{spot}: no criterion has the id {exemption.criterion!r}{hint}")
        if every and exemption.criterion in criteria and exemption.adapter not in known:
            hint = did_you_mean(exemption.adapter, known) or f" (there are {', '.join(sorted(known))})"
            raise UsageError(f"{spot}: no adapter of this gate is called {exemption.adapter!r}{hint}")
