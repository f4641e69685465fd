"""Adapters against profiles: where each stands, and on which paths it falls short."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...judge.requirements import PROFILES
from ...judge.verdict import Status
from ..certification import AdapterReport, Certification, ProfileReport
from ..overview import PATHS
from ..standing import model_of, proof_of, standing, today_apart, wire_of


@dataclass(frozen=True, slots=True)
class Cell:
    """An adapter's standing in one profile: MUSTs `held` of those `claimed`, and how many there are `all` in all.

    `short` are the paths that do not hold all, where there are several; `words` have all numbers.
    """

    status: Status
    held: int
    claimed: int
    all: int
    short: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class AdapterRow:
    """An adapter with what it was certified as. `cells` has None for a profile that it claims nothing of."""

    name: str
    status: Status
    standing: str
    wire: str
    model: str
    claim: str
    today: str
    must: tuple[int, int]
    should: tuple[int, int]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The whole of it; `profiles` are those of which somebody claims something."""

    profiles: tuple[str, ...]
    rows: tuple[AdapterRow, ...]


def matrix(report: Certification) -> Matrix:
    """The matrix of a run; empty where the harness is broken, since nobody was judged."""
    adapters = {} if report.broken else report.adapters
    seen = {name for found in adapters.values() for name, one in found.profiles.items() if _is_claimed(one)}
    profiles = tuple(name for name in PROFILES if name in seen)
    rows = tuple(_row(name, found, profiles, complete=report.complete) for name, found in adapters.items())
    return Matrix(profiles, rows)


def _row(name: str, found: AdapterReport, profiles: tuple[str, ...], *, complete: bool) -> AdapterRow:
    short = _short(found) if len(_paths_of(found)) > 1 else {}
    must, should = (
        (sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs))
        for pairs in (
            [one.must for one in found.profiles.values()],
            [one.should for one in found.profiles.values()],
        )
    )
    return AdapterRow(
        name=name,
        status=_of_adapter(found, complete=complete),
        standing=standing(found, complete=complete),
        wire=wire_of(found),
        model=model_of(found),
        claim=proof_of(found),
        today=today_apart(found),
        must=must,
        should=should,
        cells=tuple(_cell(found, profile, short.get(profile, {}), complete=complete) for profile in profiles),
    )


def _cell(found: AdapterReport, name: str, short: dict[str, str], *, complete: bool) -> Cell | None:
    profile = found.profiles.get(name)
    if profile is None or not _is_claimed(profile):
        return None
    count, claimed = profile.must
    every = max(profile.all, claimed)
    more = f"{count} of {claimed} claimed MUSTs held, of {every} in all" if every > claimed else ""
    words = [more or f"{count} of {claimed} MUSTs held", *(f"{path} {numbers}" for path, numbers in short.items())]
    words += [f"{profile.unmeasured} MUSTs not measured"] if profile.unmeasured else []
    status = _of_profile(found, name, profile, complete=complete)
    return Cell(status, count, claimed, every, tuple(short), ", ".join(words))


def _is_claimed(profile: ProfileReport) -> bool:
    return bool(profile.must[1] or profile.should[1] or profile.unmeasured)


def _of_adapter(found: AdapterReport, *, complete: bool) -> Status:
    if not complete:
        return Status.INCONCLUSIVE
    if found.certified:
        return Status.HELD
    if found.conditional:
        return Status.KNOWN_ISSUE
    violated = any(one.status is Status.VIOLATED and one.level == "MUST" for one in found.requirements.values())
    return Status.VIOLATED if violated else Status.INCONCLUSIVE


def _of_profile(found: AdapterReport, name: str, profile: ProfileReport, *, complete: bool) -> Status:
    if not complete:
        return Status.INCONCLUSIVE
    if profile.certified or not (profile.must[1] or profile.unmeasured):
        return Status.HELD
    musts = {one.status for one in found.requirements.values() if one.profile == name and one.level == "MUST"}
    for status in (Status.VIOLATED, Status.INCONCLUSIVE):
        if status in musts:
            return status
    return Status.KNOWN_ISSUE if profile.conditional else Status.INCONCLUSIVE


def _paths_of(found: AdapterReport) -> set[str]:
    """The paths on which anything is claimed. Where there is one alone, its name under a cell tells nothing."""
    return {
        path
        for requirement in found.requirements.values()
        for path, status in requirement.paths.items()
        if path in PATHS and status is not Status.NOT_CLAIMED
    }


def _short(found: AdapterReport) -> dict[str, dict[str, str]]:
    """For each profile the paths on which MUSTs that are claimed are not held, with both numbers: `11/12`."""
    held_counts, claimed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for requirement in found.requirements.values():
        for path, status in requirement.paths.items():
            if requirement.level == "MUST" and status is not Status.NOT_CLAIMED:
                claimed[requirement.profile, path] += 1
                held_counts[requirement.profile, path] += status is Status.HELD
    return {
        profile: {
            path: f"{held_counts[profile, path]}/{claimed[profile, path]}"
            for path in PATHS
            if held_counts[profile, path] < claimed[profile, path]
        }
        for profile in found.profiles
    }
