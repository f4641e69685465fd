"""What two certifications say of the same things: what is new, fixed, still there, and what only one of them measured.

A violation is fixed when the later run looked where the earlier one had seen it, under circumstances that say
something of the earlier ones, and found it held. Everything else that is gone is *no longer measured*: another model,
another backend, fewer scenarios, a run that was cut mend nothing.

What is violated on both sides is compared by the codes and places of its findings: it is *changed* where one of them is
new or fixed, and still there otherwise. No sentence is read, so an improved one is no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from .. import __version__
from .._base.canonical import canonical
from .._base.exit_codes import Exit, heaviest
from ..judge.verdict import Status
from .certification import AdapterReport
from .circumstances import Circumstance, circumstances
from .diff_sides import Found, Side, Spot, proof, read_side
from .finding_changes import FindingChange, FindingChanges, by_identity, compare_findings, share_a_scenario
from .overview import PATHS

SCHEMA = "turnproof.diff/1"

_ABSENT = "absent"
_FAILING = (Status.VIOLATED, Status.KNOWN_ISSUE)
_MEASURED = (Status.VIOLATED, Status.KNOWN_ISSUE, Status.HELD)


class Kind(StrEnum):
    """What became of a verdict, in the order in which it is told."""

    NEW = "new"
    CHANGED = "changed"
    STILL = "still"
    FIXED = "fixed"
    GONE = "no-longer-measured"
    FOUND = "newly-measured"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement on one path of one adapter.

    `before` and `after` are statuses, or `absent`; the messages are null where a side has none, or does not tell it.
    `where` is the run that the later message speaks of, or else the earlier. `why` says what a status alone does not:
    why something is not called fixed, say. `reproduce` is the command of the later side, or else of the earlier.

    `new`, `fixed` and `still` are the findings of which that is known, `undecided` those of which it is not; they are
    empty where a side tells a violation in words alone. `before_total` and `after_total` count all findings of a side,
    also those that its run does not keep; 0 where it does not tell.
    """

    adapter: str
    requirement: str
    path: str
    level: Literal["MUST", "SHOULD"]
    kind: Kind
    before: str
    after: str
    before_message: str | None = None
    after_message: str | None = None
    where: str = ""
    why: str = ""
    reproduce: str = ""
    new: tuple[FindingChange, ...] = ()
    fixed: tuple[FindingChange, ...] = ()
    still: tuple[FindingChange, ...] = ()
    undecided: tuple[FindingChange, ...] = ()
    before_total: int = 0
    after_total: int = 0


class SideReport(msgspec.Struct, frozen=True):
    """A side as it was named, with when it was made, how many verdicts it has, and whether it was cut."""

    name: str
    started: str
    verdicts: int
    complete: bool


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The report. `counts` has the changes of each kind, `same` the verdicts that measured alike on both sides.

    `compared` counts the verdicts that both sides measured: without any, nothing was compared.
    """

    schema: str = SCHEMA
    turnproof: str = __version__
    before: SideReport
    after: SideReport
    circumstances: tuple[Circumstance, ...]
    counts: dict[Kind, int]
    compared: int
    same: int
    changes: tuple[Change, ...]
    exit_code: int

    def of(self, kind: Kind) -> list[Change]:
        """The changes of one kind, in order."""
        return [change for change in self.changes if change.kind is kind]


def diff(before: Path, after: Path) -> Diff:
    """What changed between two certifications, each a folder or a `certification.json`. Raises UsageError."""
    return diff_of(read_side(before), read_side(after))


def diff_of(before: Side, after: Side) -> Diff:
    """The same of two sides that are at hand. A pure function."""
    changes = tuple(sorted(_changes(before, after), key=_order))
    counts = {kind: sum(change.kind is kind for change in changes) for kind in Kind}
    both = [spot for spot in before.found.keys() & after.found.keys() if _both_measured(before, after, spot)]
    changed_spots = {(change.adapter, change.requirement, change.path) for change in changes}
    both_complete = before.report.complete and after.report.complete and bool(both)
    violated = any(change.after == Status.VIOLATED and change.kind in (Kind.NEW, Kind.FOUND) for change in changes)
    return Diff(
        before=_side(before),
        after=_side(after),
        circumstances=tuple(circumstances(before.report, after.report)),
        counts=counts,
        compared=len(both),
        same=sum(tuple(spot) not in changed_spots for spot in both),
        changes=changes,
        exit_code=heaviest([Exit.VIOLATIONS if violated else Exit.OK, Exit.OK if both_complete else Exit.UNDECIDED]),
    )


def diff_json(report: Diff) -> bytes:
    """`diff.json`: indented, with sorted keys."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"


def _side(side: Side) -> SideReport:
    return SideReport(side.name, side.report.started, len(side.found), side.report.complete)


def _both_measured(before: Side, after: Side, spot: Spot) -> bool:
    return before.found[spot].status in _MEASURED and after.found[spot].status in _MEASURED


def _changes(before: Side, after: Side) -> Iterator[Change]:
    for spot in dict.fromkeys((*before.found, *after.found)):
        old, new = before.found.get(spot), after.found.get(spot)
        kind, why, findings = _kind(before, after, spot)
        if kind is None:
            continue
        requirement = after.requirement(spot) or before.requirement(spot)
        assert requirement is not None, "a spot is of a side that has its requirement"
        yield Change(
            adapter=spot.adapter,
            requirement=spot.requirement,
            path=spot.path,
            level=requirement.level,
            kind=kind,
            before=str(old.status) if old else _ABSENT,
            after=str(new.status) if new else _ABSENT,
            before_message=old.message if old else None,
            after_message=new.message if new else None,
            where=(new.where if new else "") or (old.where if old else ""),
            why=why,
            reproduce=requirement.reproduce,
            new=findings.new,
            fixed=findings.fixed,
            still=findings.still,
            undecided=findings.undecided,
            before_total=old.total if old else 0,
            after_total=new.total if new else 0,
        )


_Outcome: TypeAlias = tuple[Kind | None, str, FindingChanges]


def _kind(before: Side, after: Side, spot: Spot) -> _Outcome:
    """What became of a spot, with what has to be said of it and its findings; None where there is nothing to tell."""
    old, new = before.found.get(spot), after.found.get(spot)
    if new is None or new.status not in _MEASURED:
        if old is None or old.status not in _MEASURED:
            return None, "", FindingChanges()
        why = _why_gone(after, spot, new)
        return Kind.GONE, why, _undecided(old, why)
    if old is None or old.status not in _MEASURED:
        if new.status is Status.VIOLATED and old is not None:
            return Kind.NEW, f"it was {_words(old)} before", _all_new(new)
        return Kind.FOUND, "", _all_new(new)
    if old.status in _FAILING and new.status in _FAILING:
        return _both_failing(before, after, spot, old, new)
    if new.status in _FAILING:
        accepted = new.status is Status.KNOWN_ISSUE
        return Kind.NEW, "it is accepted as a known issue now" if accepted else "", _all_new(new)
    if old.status is Status.HELD:
        return None, "", FindingChanges()
    if apart := _why_not_comparable(before, after, spot, old.runs):
        why = f"held now, but {apart}"
        return Kind.GONE, why, _undecided(old, why)
    return Kind.FIXED, "", FindingChanges(fixed=tuple(by_identity(old.findings, ())))


def _both_failing(before: Side, after: Side, spot: Spot, old: Found, new: Found) -> _Outcome:
    """A spot that is violated or accepted on both sides."""
    why = [f"the {name} run keeps {kept_count} of {all_of} findings" for name, kept_count, all_of in _capped(old, new)]
    if old.in_words != new.in_words or not (old.findings and new.findings):
        findings = FindingChanges()
        looked = not (_not_run(after, spot, old.runs) or _not_run(before, spot, new.runs))
        changed = looked and not share_a_scenario(old, new)
        why.append("one of the runs has only words for it: compared by status and scenario")
    else:
        findings = compare_findings(
            old,
            new,
            lambda run: _not_looked_at(before, after, spot, frozenset({run}) - {""}),
            lambda run: _why_not_comparable(before, after, spot, frozenset({run}) - {""}),
        )
        changed = bool(findings.new or findings.fixed)
    if old.status is Status.KNOWN_ISSUE and new.status is Status.VIOLATED:
        return Kind.NEW, "; ".join(["it was accepted as a known issue before", *why]), findings
    if old.status is not new.status:
        why.insert(0, "it is accepted as a known issue now")
    return Kind.CHANGED if changed else Kind.STILL, "; ".join(why), findings


def _capped(old: Found, new: Found) -> Iterator[tuple[str, int, int]]:
    for name, found in (("earlier", old), ("later", new)):
        if found.total > len(found.findings):
            yield name, len(found.findings), found.total


def _all_new(new: Found) -> FindingChanges:
    return FindingChanges(new=tuple(by_identity((), new.findings)))


def _undecided(old: Found, why: str) -> FindingChanges:
    changes = by_identity(old.findings, ())
    return FindingChanges(undecided=tuple(msgspec.structs.replace(change, why=why) for change in changes))


def _why_gone(after: Side, spot: Spot, new: Found | None) -> str:
    if not after.report.complete:
        return "the later run was cut"
    if spot.adapter not in after.report.adapters:
        return "the adapter took no part"
    if new is None:
        return "it was left out"
    return f"{_words(new)} now" + (f": {new.message}" if new.message else "")


def _why_not_comparable(before: Side, after: Side, spot: Spot, runs: frozenset[str]) -> str:
    """Why the later side says nothing of what the earlier one had seen in these runs; empty where it does."""
    one, other = before.report.adapters[spot.adapter], after.report.adapters[spot.adapter]
    for what, left, right in _conditions(one, other):
        if left != right:
            return f"with another {what}"
    return _not_looked_at(after, before, spot, runs)


def _not_looked_at(side: Side, other: Side, spot: Spot, runs: frozenset[str]) -> str:
    """Why a side has not looked where the other one has seen something; empty where it has."""
    if side.run_keys is not None and runs:
        return _not_run(side, spot, runs)
    if other.report.depth == "full" and side.report.depth != "full":
        return f"at depth {side.report.depth} only"
    if side.limited(spot) and not other.limited(spot):
        return "with some scenarios only"
    return ""


def _not_run(side: Side, spot: Spot, runs: frozenset[str]) -> str:
    """Which of these runs a side did not make; empty where it made them all, or does not tell."""
    if side.run_keys is None:
        return ""
    missing = sorted(runs - side.run_keys.get(spot.adapter, frozenset()))
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"{missing[0]}{more} was not run, where it had been seen" if missing else ""


def _conditions(one: AdapterReport, other: AdapterReport) -> Iterator[tuple[str, str, str]]:
    yield "dialect", one.dialect, other.dialect
    yield "model", one.model, other.model
    yield "backend", proof(one), proof(other)
    yield "adapter under the session", one.run_with, other.run_with


def _words(found: Found) -> str:
    return {Status.INCONCLUSIVE: "undecided", Status.NOT_CLAIMED: "not claimed"}.get(found.status, str(found.status))


def _order(change: Change) -> tuple[int, bool, str, str, int]:
    kinds = list(Kind)
    path = PATHS.index(change.path) if change.path in PATHS else len(PATHS)
    return kinds.index(change.kind), change.level != "MUST", change.adapter, change.requirement, path
