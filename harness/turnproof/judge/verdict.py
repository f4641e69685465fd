"""What a check says of a requirement, and how the answers of several runs and paths add up.

The order is the order of weight: one violation outweighs any number of passes, and "we could not decide" is
never a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

import msgspec

from .._base.counts import counted
from ..dialects.base import Evidence
from .finding import UNSTRUCTURED, Finding, Place, Side, plain_value
from .undecided import Undecided


class Status(StrEnum):
    """Outcomes, heaviest first."""

    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    KNOWN_ISSUE = "known-issue"
    HELD = "held"
    NOT_CLAIMED = "not-claimed"


_ORDER = list(Status)

MOST_FINDINGS = 200
"""Findings that a verdict keeps of one root and code; `total` counts all of them. No root is left out for another."""

_LONGEST_DETAIL = 100_000

NOTHING = "no run had anything to compare"


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer.

    A violation (and a known issue, which is one that was accepted) is told by its `findings`: those that were kept, of
    `total` in all, `failing` of them by the key of the run. `message` and `detail` are for people and say why something
    is undecided, not claimed or accepted; nothing is decided by them. `compared` lists what a `held` rests on (a `held`
    that compared nothing is turned into `inconclusive`, and so is `empty`). `rests_on` is the weakest evidence of any
    wire rule used. `evidence` are the digests of the transcripts read. `accepted` are findings of a violation that a
    known issue names by their code; they count neither in `total` nor in `failing`. `undecided` says what kept it
    from being decided, or, of what is not claimed, which scenarios would have shown it and what they need.

    `asked` counts how often that of which the requirement speaks happened at the subject's own side, in the runs that
    decided it (`Requirement.counts` says what); None in logs from before it was counted, and where no run took part.
    Raises ValueError for a `held` without any: who was never asked has not kept anything.
    """

    status: Status
    message: str = ""
    detail: str = ""
    compared: tuple[str, ...] = ()
    rests_on: Evidence | None = None
    evidence: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    total: int = 0
    failing: dict[str, int] = {}
    empty: bool = False
    accepted: tuple[Finding, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    asked: int | None = None

    def __post_init__(self) -> None:
        if self.status is Status.HELD and self.asked == 0:
            raise ValueError("nothing is held by a subject that was never asked")

    @property
    def compared_nothing(self) -> bool:
        """Whether it is undecided for no other reason than that no run had what the requirement looks at."""
        return self.empty

    @property
    def where(self) -> str:
        """The key of the run that the first finding was made in; empty where there is none."""
        return self.findings[0].place.run if self.findings else ""


def held(*compared: str, asked: int, rests_on: Evidence | None = None) -> Verdict:
    """The requirement holds here: something was compared, of a subject that was `asked`. Undecided without either."""
    if not compared or not asked:
        return nothing_compared(asked)
    return Verdict(Status.HELD, compared=compared, rests_on=rests_on, asked=asked)


def nothing_compared(asked: int | None = None) -> Verdict:
    """Undecided, because no run had what the requirement looks at, or none in which the subject was asked for it."""
    return Verdict(Status.INCONCLUSIVE, message=NOTHING, empty=True, asked=asked)


def failed(findings: Sequence[Finding], *, rests_on: Evidence | None = None) -> Verdict:
    """The adapter broke the requirement, and this is where. A MUST never rests on an inferred wire rule.

    Raises ValueError without any finding: nobody is accused of nothing.
    """
    if not findings:
        raise ValueError("a violation needs a finding")
    if rests_on is Evidence.INFERRED:
        return inconclusive(f"only an inferred wire rule speaks against it: {findings[0].code}")
    failing = Counter(finding.place.run for finding in findings)
    return Verdict(
        Status.VIOLATED,
        rests_on=rests_on,
        findings=_first_findings(findings),
        total=len(findings),
        failing={run: failing[run] for run in sorted(failing) if run},
    )


def violated(message: str, *, detail: str = "", rests_on: Evidence | None = None) -> Verdict:
    """A violation in free words, for a check that has nothing better. See `Finding` for what readers make more of."""
    if rests_on is Evidence.INFERRED:
        return inconclusive(f"only an inferred wire rule speaks against it: {message}")
    facts = {"message": plain_value(_shorten(message)), **({"detail": plain_value(detail)} if detail else {})}
    finding = Finding(code=UNSTRUCTURED, place=Place(side=Side.PROCESS), facts=facts)
    return failed([finding], rests_on=rests_on)


def inconclusive(reason: str, *, detail: str = "") -> Verdict:
    """We could not decide. Never a pass, and never the adapter's fault."""
    return Verdict(Status.INCONCLUSIVE, message=_shorten(reason), detail=_shorten(detail, _LONGEST_DETAIL))


def _shorten(text: str, limit: int = 4000) -> str:
    """What a person can read of it: an error's own text may have megabytes, which the evidence has whole."""
    return text if len(text) <= limit else f"{text[:limit]}… ({counted(len(text), 'character')})"


def not_claimed(reason: str, undecided: Iterable[Undecided] = ()) -> Verdict:
    """The adapter does not claim what the requirement needs, or what every scenario needs that would show it."""
    return Verdict(Status.NOT_CLAIMED, message=reason, undecided=tuple(undecided))


def not_applicable() -> Verdict | None:
    """What a check returns for a run that has nothing of what it looks at."""
    return None


def worst(statuses: Iterable[Status]) -> Status:
    """The heaviest of several statuses; `not-claimed` for none."""
    found = set(statuses)
    return next((status for status in _ORDER if status in found), Status.NOT_CLAIMED)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several runs together: the heaviest status, with all its findings, evidence and comparisons."""
    every = list(verdicts)
    if not every:
        return nothing_compared()
    status = worst(verdict.status for verdict in every)
    chosen = [verdict for verdict in every if verdict.status is status]
    marks = [verdict.rests_on for verdict in chosen if verdict.rests_on is not None]
    failing: Counter[str] = Counter()
    for verdict in chosen:
        failing.update(verdict.failing)
    counts = [verdict.asked for verdict in chosen if verdict.asked is not None]
    speaker = next((verdict for verdict in chosen if not verdict.empty), chosen[0])
    return Verdict(
        status,
        message=speaker.message,
        detail=speaker.detail,
        compared=tuple(dict.fromkeys(item for verdict in chosen for item in verdict.compared)),
        rests_on=max(marks, key=list(Evidence).index) if marks else None,
        evidence=tuple(dict.fromkeys(digest for verdict in chosen for digest in verdict.evidence)),
        findings=_first_findings([finding for verdict in chosen for finding in verdict.findings]),
        total=sum(verdict.total for verdict in chosen),
        failing=dict(failing),
        empty=speaker.empty,
        asked=sum(counts) if counts else None,
    )


def accept_codes(verdict: Verdict, codes: Collection[str]) -> Verdict:
    """A violation whose findings with these codes are `accepted`; what is left of it are those with other codes.

    Findings that were not kept count as accepted where every kind that was cut short is, and else as not accepted.
    """
    accepted = tuple(finding for finding in verdict.findings if finding.code in codes)
    rest = tuple(finding for finding in verdict.findings if finding.code not in codes)
    kinds = Counter((finding.root, finding.code) for finding in verdict.findings)
    cut_short = {code for (_, code), count in kinds.items() if count >= MOST_FINDINGS}
    beyond = bool(cut_short) and cut_short <= set(codes)
    counted = Counter(finding.place.run for finding in (rest if beyond else accepted))
    total = len(rest) if beyond else verdict.total - len(accepted)
    left = {run: counted[run] if beyond else count - counted[run] for run, count in verdict.failing.items()}
    return msgspec.structs.replace(
        verdict,
        findings=rest,
        total=total,
        failing={run: count for run, count in left.items() if count > 0},
        accepted=(*verdict.accepted, *accepted),
    )


def _first_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that a log can bear, in their order: of each root and code the first ones."""
    if len(findings) <= MOST_FINDINGS:
        return tuple(findings)
    seen: Counter[tuple[str, str]] = Counter()
    first = []
    for finding in findings:
        seen[finding.root, finding.code] += 1
        if seen[finding.root, finding.code] <= MOST_FINDINGS:
            first.append(finding)
    return tuple(first)
