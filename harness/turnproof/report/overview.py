"""Several adapters on one page: adapters and their paths against profiles, with the MUSTs held of those claimed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..judge.requirements import PROFILES
from ..judge.verdict import Status
from .certification import AdapterReport, Certification

PATHS = ("stateless", "legacy", "parity")


@dataclass(frozen=True, slots=True)
class Cell:
    """MUSTs of a profile on one path: [held, claimed], and how many there are to claim."""

    must: tuple[int, int]
    all: int


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One path of one adapter. `cells` are its MUSTs, in the order of the profiles; None where the path claims nothing
    of a profile."""

    adapter: str
    path: str
    certified: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """The matrix. `profiles` are those of which somebody claims something."""

    profiles: tuple[str, ...]
    rows: tuple[OverviewRow, ...]


def overview(report: Certification) -> Overview | None:
    """The matrix of a certification; None for a single adapter, whose own table says it all."""
    if len(report.adapters) < 2 or report.broken:
        return None
    counted = {name: _status_counts(found) for name, found in report.adapters.items()}
    claimed = {profile for counts in counted.values() for _, profile in counts}
    profiles = tuple(profile for profile in PROFILES if profile in claimed)
    rows = [
        OverviewRow(name, path, report.adapters[name].certified, tuple(counts.get((path, each)) for each in profiles))
        for name, counts in counted.items()
        for path in PATHS
        if any(measured == path for measured, _ in counts)
    ]
    return Overview(profiles, tuple(rows))


def _status_counts(found: AdapterReport) -> dict[tuple[str, str], Cell]:
    held_counts, claimed, every = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for requirement in found.requirements.values():
        for path, status in requirement.paths.items():
            if requirement.level != "MUST":
                continue
            # What is claimed on another path alone says nothing of this one.
            nowhere = requirement.status is Status.NOT_CLAIMED
            every[path, requirement.profile] += requirement.applies and (nowhere or status is not Status.NOT_CLAIMED)
            if status is not Status.NOT_CLAIMED:
                claimed[path, requirement.profile] += 1
                held_counts[path, requirement.profile] += status is Status.HELD
    return {place: Cell((held_counts[place], count), max(every[place], count)) for place, count in claimed.items()}
