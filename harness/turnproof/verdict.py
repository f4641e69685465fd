"""What a check says of a requirement, and how the answers of several runs and paths add up.

The order is the order of weight: one violation outweighs any number of passes, and "we could not decide" is
never a pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from .dialects.base import Evidence


class Status(StrEnum):
    """Outcomes, heaviest first."""

    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    KNOWN_ISSUE = "known-issue"
    HELD = "held"
    NOT_CLAIMED = "not-claimed"


_ORDER = list(Status)


_LONGEST_DETAIL = 100_000

NOTHING = "no run had anything to compare"


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer.

    `message` is for people: what was seen, both sides, where. `compared` lists what a `held` rests on (a `held`
    that compared nothing is turned into `inconclusive`). `rests_on` is the weakest evidence of any wire rule used.
    `evidence` are the digests of the transcripts read; `where` the run the message speaks of;
    `more` counts the further places that the message ends with.
    """

    status: Status
    message: str = ""
    compared: tuple[str, ...] = ()
    rests_on: Evidence | None = None
    evidence: tuple[str, ...] = ()
    where: str = ""
    detail: str = ""
    more: int = 0

    @property
    def compared_nothing(self) -> bool:
        """Whether it is undecided for no other reason than that no run had what the requirement looks at."""
        return self.status is Status.INCONCLUSIVE and self.message == NOTHING


def held(*compared: str, rests_on: Evidence | None = None) -> Verdict:
    """The requirement holds here; at least one thing must have been compared."""
    if not compared:
        return inconclusive(NOTHING)
    return Verdict(Status.HELD, compared=compared, rests_on=rests_on)


def violated(message: str, *, detail: str = "", rests_on: Evidence | None = None) -> Verdict:
    """The adapter broke the requirement. A MUST never rests on an inferred wire rule."""
    if rests_on is Evidence.INFERRED:
        return inconclusive(f"only an inferred wire rule speaks against it: {message}")
    return Verdict(Status.VIOLATED, message=_cut(message), detail=_cut(detail, _LONGEST_DETAIL), rests_on=rests_on)


def inconclusive(reason: str, *, detail: str = "") -> Verdict:
    """We could not decide. Never a pass, and never the adapter's fault."""
    return Verdict(Status.INCONCLUSIVE, message=_cut(reason), detail=_cut(detail, _LONGEST_DETAIL))


def _cut(text: str, limit: int = 4000) -> str:
    """What a person can read of it: an error's own text may have megabytes, which the evidence has whole."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def not_claimed(reason: str) -> Verdict:
    """The adapter does not claim what the requirement needs."""
    return Verdict(Status.NOT_CLAIMED, message=reason)


def not_applicable() -> Verdict | None:
    """What a check returns for a run that has nothing of what it looks at."""
    return None


def worst(statuses: Iterable[Status]) -> Status:
    """The heaviest of several statuses; `not-claimed` for none."""
    found = set(statuses)
    return next((status for status in _ORDER if status in found), Status.NOT_CLAIMED)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several runs together: the heaviest one's message, all evidence and comparisons."""
    every = list(verdicts)
    if not every:
        return inconclusive(NOTHING)
    status = worst(verdict.status for verdict in every)
    chosen = [verdict for verdict in every if verdict.status is status]
    evidence = tuple(dict.fromkeys(d for verdict in chosen for d in verdict.evidence))
    marks = [verdict.rests_on for verdict in chosen if verdict.rests_on is not None]
    order = list(Evidence)
    first = chosen[0]
    more = sum(verdict.more + 1 for verdict in chosen) - 1 if status is not Status.HELD else 0
    message = first.message.removesuffix(_and_more(first.more)) + _and_more(more)
    return Verdict(
        status,
        message=message,
        compared=tuple(dict.fromkeys(item for verdict in chosen for item in verdict.compared)),
        rests_on=max(marks, key=order.index) if marks else None,
        evidence=evidence,
        where=first.where,
        detail=first.detail,
        more=more,
    )


def _and_more(count: int) -> str:
    return f" (and in {count} more)" if count else ""
