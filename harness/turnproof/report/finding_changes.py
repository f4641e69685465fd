"""Findings of two verdicts on the same thing, held against each other by what they are and where: words are not read.

A finding is the same one in both runs where its identity is (`Finding.identity`): code, run, turn, round and place in
the document, with the indices of that place left open. What only one side has is new or fixed where the other side
looked there and tells all that it found, and else undecided, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from ..judge.finding import Place
from .certification import FindingReport
from .diff_sides import Found
from .finding_groups import scenarios

Why: TypeAlias = Callable[[str], str]
"""Why nothing is known of a run, by its key; empty where something is."""


class FindingChange(msgspec.Struct, frozen=True, kw_only=True):
    """What one identity stands for: a kind of finding at a place, `before` times on one side, `after` on the other.

    The place is that of the first one on the later side, or else on the earlier. So are the words. `why` says of an
    undecided one why it is neither new nor fixed.
    """

    code: str
    place: Place
    title: str
    expected: str
    got: str
    where: str
    before: int = 0
    after: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class FindingChanges:
    """What became of the findings of a verdict."""

    new: tuple[FindingChange, ...] = ()
    fixed: tuple[FindingChange, ...] = ()
    still: tuple[FindingChange, ...] = ()
    undecided: tuple[FindingChange, ...] = ()


def by_identity(before: Iterable[FindingReport], after: Iterable[FindingReport]) -> list[FindingChange]:
    """One entry for each identity: those of the later side first, each side in its order."""
    earlier, later = _grouped(before), _grouped(after)
    return [_change(earlier.get(key, []), later.get(key, [])) for key in dict.fromkeys((*later, *earlier))]


def compare_findings(old: Found, new: Found, not_before: Why, not_after: Why) -> FindingChanges:
    """The findings of two failing verdicts that have places on both sides.

    `not_before` says why the earlier side knows nothing of a run, `not_after` the same of the later one.
    """
    lists: dict[str, list[FindingChange]] = {"new": [], "fixed": [], "still": [], "undecided": []}
    for change in by_identity(old.findings, new.findings):
        run = change.place.run
        if change.before and change.after:
            lists["still"].append(change)
            continue
        kind, side, why = ("new", old, not_before(run)) if change.after else ("fixed", new, not_after(run))
        if not why and not side.tells_all_of(run):
            why = f"the {'earlier' if change.after else 'later'} run does not keep all findings in this run"
        lists["undecided" if why else kind].append(msgspec.structs.replace(change, why=why))
    return FindingChanges(**{kind: tuple(changes) for kind, changes in lists.items()})


def share_a_scenario(old: Found, new: Found) -> bool:
    """Whether both may have failed in the same scenario, which is all that can be asked of what is told in words."""
    if old.vague or new.vague or old.cut_short or new.cut_short:
        return True
    before, after = ({one.finding.place.run: 1 for one in found.findings} for found in (old, new))
    known = "" not in before and "" not in after and before and after
    return not known or not set(scenarios(before)).isdisjoint(scenarios(after))


def _grouped(findings: Iterable[FindingReport]) -> dict[tuple[str | int, ...], list[FindingReport]]:
    found: dict[tuple[str | int, ...], list[FindingReport]] = {}
    for one in findings:
        found.setdefault(one.finding.identity, []).append(one)
    return found


def _change(before: list[FindingReport], after: list[FindingReport]) -> FindingChange:
    first = (after or before)[0]
    return FindingChange(
        code=first.finding.code,
        place=first.finding.place,
        title=first.title,
        expected=first.expected,
        got=first.got,
        where=first.where,
        before=len(before),
        after=len(after),
    )
