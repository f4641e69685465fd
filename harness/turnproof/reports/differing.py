"""What two certifications say of the same things: what is new, fixed, still there, and what only one of them measured.

A violation is fixed when the later run looked where the earlier one had seen it, under circumstances that say
something of the earlier ones, and found it held. Everything else that is gone is *no longer measured*: another model,
another backend, fewer scenarios, a run that was cut mend nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from .. import __version__
from .._canonical import canonical
from ..exits import Exit, heaviest
from ..verdict import Status
from .certification import AdapterReport
from .circumstances import Circumstance, circumstances
from .overview import PATHS
from .sides import Found, Side, Spot, proof, read_side

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
    told = {(change.adapter, change.requirement, change.path) for change in changes}
    whole = before.report.complete and after.report.complete and bool(both)
    violated = any(change.after == Status.VIOLATED and change.kind in (Kind.NEW, Kind.FOUND) for change in changes)
    return Diff(
        before=_side(before),
        after=_side(after),
        circumstances=tuple(circumstances(before.report, after.report)),
        counts=counts,
        compared=len(both),
        same=sum(tuple(spot) not in told for spot in both),
        changes=changes,
        exit_code=heaviest([Exit.VIOLATIONS if violated else Exit.OK, Exit.OK if whole else Exit.UNDECIDED]),
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
        kind, why = _kind(before, after, spot)
        if kind is None:
            continue
        told = after.requirement(spot) or before.requirement(spot)
        assert told is not None, "a spot is of a side that has its requirement"
        yield Change(
            adapter=spot.adapter,
            requirement=spot.requirement,
            path=spot.path,
            level=told.level,
            kind=kind,
            before=str(old.status) if old else _ABSENT,
            after=str(new.status) if new else _ABSENT,
            before_message=old.message if old else None,
            after_message=new.message if new else None,
            where=(new.where if new else "") or (old.where if old else ""),
            why=why,
            reproduce=told.reproduce,
        )


def _kind(before: Side, after: Side, spot: Spot) -> tuple[Kind | None, str]:
    """What became of a spot, with what has to be said of it; None where there is nothing to tell."""
    old, new = before.found.get(spot), after.found.get(spot)
    if new is None or new.status not in _MEASURED:
        if old is None or old.status not in _MEASURED:
            return None, ""
        return Kind.GONE, _why_gone(after, spot, new)
    if old is None or old.status not in _MEASURED:
        if new.status is Status.VIOLATED and old is not None:
            return Kind.NEW, f"it was {_words(old)} before"
        return Kind.FOUND, ""
    if new.status is Status.VIOLATED:
        if old.status is Status.HELD:
            return Kind.NEW, ""
        if old.status is Status.KNOWN_ISSUE:
            return Kind.NEW, "it was accepted as a known issue before"
    if new.status in _FAILING:
        why = "it is accepted as a known issue now" if new.status is not old.status else ""
        if old.status is Status.HELD:
            return Kind.NEW, why
        return (Kind.STILL if _same_words(old, new) else Kind.CHANGED), why
    if old.status is Status.HELD:
        return None, ""
    apart = _apart(before, after, spot, old)
    return (Kind.GONE, f"held now, but {apart}") if apart else (Kind.FIXED, "")


def _why_gone(after: Side, spot: Spot, new: Found | None) -> str:
    if not after.report.complete:
        return "the later run was cut"
    if spot.adapter not in after.report.adapters:
        return "the adapter took no part"
    if new is None:
        return "it was left out"
    return f"{_words(new)} now" + (f": {new.message}" if new.message else "")


def _apart(before: Side, after: Side, spot: Spot, old: Found) -> str:
    """Why the later result says nothing of what the earlier one had seen; empty where it does."""
    one, other = before.report.adapters[spot.adapter], after.report.adapters[spot.adapter]
    for what, left, right in _conditions(one, other):
        if left != right:
            return f"with another {what}"
    if before.ran is not None and after.ran is not None and old.runs:
        missing = sorted(old.runs - after.ran.get(spot.adapter, frozenset()))
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return f"{missing[0]}{more} was not run, where it had been seen" if missing else ""
    if before.report.depth == "full" and after.report.depth != "full":
        return f"at depth {after.report.depth} only"
    if after.limited(spot) and not before.limited(spot):
        return "with some scenarios only"
    return ""


def _conditions(one: AdapterReport, other: AdapterReport) -> Iterator[tuple[str, str, str]]:
    yield "dialect", one.dialect, other.dialect
    yield "model", one.model, other.model
    yield "backend", proof(one), proof(other)
    yield "adapter under the session", one.run_with, other.run_with


def _same_words(old: Found, new: Found) -> bool:
    """Whether both say the same; what nobody told is no change. A known issue has its acceptance in front."""
    if old.message is None or new.message is None:
        return True
    before, after = (
        found.message.partition(" — ")[2] if found.status is Status.KNOWN_ISSUE else found.message
        for found in (old, new)
        if found.message is not None
    )
    return before == after


def _words(found: Found) -> str:
    return {Status.INCONCLUSIVE: "undecided", Status.NOT_CLAIMED: "not claimed"}.get(found.status, str(found.status))


def _order(change: Change) -> tuple[int, bool, str, str, int]:
    kinds = list(Kind)
    path = PATHS.index(change.path) if change.path in PATHS else len(PATHS)
    return kinds.index(change.kind), change.level != "MUST", change.adapter, change.requirement, path
