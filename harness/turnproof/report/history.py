"""Certifications over time: where each adapter stood in every run that a folder keeps, and what changed in between.

A run is a folder with `run.ndjson` or `certification.json`, anywhere below the folder. Runs are ordered by their start,
and consecutive ones of an adapter are compared as `turnproof diff` does. A run that cannot be read is named and left
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from .. import __version__
from .._base.canonical import canonical
from .._base.exit_codes import Exit
from ..errors import UsageError
from .certification import AdapterReport
from .certification_diff import Kind, diff_of
from .circumstances import Circumstance
from .diff_sides import Side, read_side
from .layers import Answer
from .run_folders import CERTIFICATION_FILE, RUN_FILE, run_in
from .standing import standing

SCHEMA = "turnproof.history/1"

WhySkipped: TypeAlias = Literal["damaged", "comparison", "copy"]


class RunStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Where one adapter stood in one run. `run` is its folder, below the folder that was asked about.

    `must` is [held, claimed]. `today` and `contract` are the two answers; null where the run does not have them.
    `packages` are those of every adapter of the run.
    """

    run: str
    started: str
    turnproof: str
    packages: dict[str, str]
    profiles: str
    depth: str
    dialect: str
    model: str
    proof: str
    complete: bool
    standing: str
    certified: bool
    conditional: bool
    must: tuple[int, int]
    today: Answer | None = None
    contract: Answer | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What changed from one run of an adapter to its next: requirements by kind of change, as `turnproof diff` names
    them, and the circumstances that are not the same and may explain it. `compared` counts the verdicts that both
    measured."""

    before: str
    after: str
    circumstances: tuple[Circumstance, ...]
    requirements: dict[Kind, tuple[str, ...]]
    compared: int


class AdapterHistory(msgspec.Struct, frozen=True):
    """One adapter: its runs from the first to the last, and what changed between each two."""

    runs: tuple[RunStanding, ...]
    changes: tuple[Changes, ...]


class Skipped(msgspec.Struct, frozen=True):
    """A folder that is left out: a `damaged` run, a `comparison`, which certifies nothing, or a `copy` of another."""

    run: str
    why: WhySkipped
    reason: str


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    schema: str = SCHEMA
    turnproof: str = __version__
    adapters: dict[str, AdapterHistory]
    skipped: tuple[Skipped, ...] = ()

    @property
    def exit_code(self) -> Exit:
        """A fault where a run could not be read; what adapters did decides nothing here."""
        return Exit.FAULT if any(one.why == "damaged" for one in self.skipped) else Exit.OK


def history(folder: Path) -> History:
    """The history of every adapter with a certification below `folder`. Raises UsageError where there is none."""
    if not folder.is_dir():
        what = "is a file: name the folder that has the runs" if folder.exists() else "there is no such folder"
        raise UsageError(f"{folder}: {what}")
    skipped: list[Skipped] = []
    sides = _without_copies(_in_order(_sides(folder, skipped)), skipped)
    if not sides:
        found = "".join(f"; {one.run}: {one.reason}" for one in skipped[:3])
        raise UsageError(
            f"{folder} has no certification in it or below it{found}; "
            f"turnproof certify --out {folder / 'NAME'} adds one"
        )
    names = sorted({name for side in sides.values() for name in side.report.adapters})
    return History(
        adapters={name: _of_adapter(name, sides) for name in names},
        skipped=tuple(sorted(skipped, key=lambda one: one.run)),
    )


def history_json(report: History) -> bytes:
    """`history.json`: indented, with sorted keys."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"


def _sides(folder: Path, skipped: list[Skipped]) -> Iterator[tuple[str, Side]]:
    folders = {file.parent for name in (RUN_FILE, CERTIFICATION_FILE) for file in folder.rglob(name)}
    for each in sorted(folders):
        name = each.relative_to(folder).as_posix()
        try:
            if (each / RUN_FILE).is_file():
                run = run_in(each)
                if run.header.compares or not (run.requirements or run.results):
                    skipped.append(Skipped(name, "comparison", "the runs of a comparison or of a gate certify nothing"))
                    continue
            side = read_side(each)
            _started(side)
        except UsageError as error:
            skipped.append(Skipped(name, "damaged", str(error)))
            continue
        yield name, side


def _in_order(sides: Iterator[tuple[str, Side]]) -> dict[str, Side]:
    return dict(sorted(sides, key=lambda pair: (_started(pair[1]), pair[0])))


def _started(side: Side) -> datetime:
    try:
        found = datetime.fromisoformat(side.report.started)
    except ValueError as error:
        raise UsageError(
            f"{side.name}: {side.report.started!r} is no moment at which a run can have started"
        ) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _without_copies(sides: Mapping[str, Side], skipped: list[Skipped]) -> dict[str, Side]:
    """The runs, each once: the same start and the same digest are the same run."""
    seen: dict[tuple[str, str], str] = {}
    once = {}
    for name, side in sides.items():
        digest = side.report.digest
        first = seen.setdefault((side.report.started, digest), name) if digest else name
        if first == name:
            once[name] = side
        else:
            skipped.append(Skipped(name, "copy", f"the same run as {first}"))
    return once


def _of_adapter(name: str, sides: Mapping[str, Side]) -> AdapterHistory:
    own_sides = {run: side for run, side in sides.items() if name in side.report.adapters}
    runs = list(own_sides)
    return AdapterHistory(
        runs=tuple(_run_standing(run, side, side.report.adapters[name]) for run, side in own_sides.items()),
        changes=tuple(_changes(name, one, other, own_sides) for one, other in pairwise(runs)),
    )


def _run_standing(run: str, side: Side, found: AdapterReport) -> RunStanding:
    report = side.report
    must = [profile.must for profile in found.profiles.values()]
    layers = found.layers
    return RunStanding(
        run=run,
        started=report.started,
        turnproof=report.turnproof,
        packages=report.environment.packages,
        profiles=report.profiles,
        depth=report.depth,
        dialect=found.dialect,
        model=found.model,
        proof=found.claim,
        complete=report.complete,
        standing=standing(found, complete=report.complete),
        certified=found.certified and report.complete,
        conditional=found.conditional and report.complete,
        must=(sum(count for count, _ in must), sum(claimed for _, claimed in must)),
        today=layers.today.answer if layers and layers.today else None,
        contract=layers.contract.answer if layers else None,
    )


def _changes(name: str, before: str, after: str, sides: Mapping[str, Side]) -> Changes:
    found = diff_of(sides[before], sides[after])
    by_kind: dict[Kind, dict[str, None]] = {kind: {} for kind in Kind}
    for change in found.changes:
        if change.adapter == name:
            by_kind[change.kind].setdefault(change.requirement)
    both = sides[before].found.keys() & sides[after].found.keys()
    return Changes(
        before=before,
        after=after,
        circumstances=tuple(one for one in found.circumstances if one.adapter in ("", name) and one.what != "adapter"),
        requirements={kind: tuple(ids) for kind, ids in by_kind.items() if ids},
        compared=sum(spot.adapter == name for spot in both),
    )
