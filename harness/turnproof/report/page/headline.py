"""The verdict of a whole run in a sentence, and how far its proof goes in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._base.counts import counted
from ...judge.verdict import Status
from ..certification import AdapterReport, Certification
from ..limits import HEADLINE_NAMES
from .phrases import day, join_words


@dataclass(frozen=True, slots=True)
class Sentence:
    """`status` says how it looks: held for what is certified, inconclusive for what certifies nothing.

    `proof` is the sentence after it: how far it goes, against what, and when. It is empty where nothing is claimed.
    Neither has a full stop.
    """

    status: Status
    text: str
    proof: str = ""


def sentence(report: Certification) -> Sentence:
    """What a reader should take away who reads nothing else."""
    if report.broken:
        return Sentence(
            Status.INCONCLUSIVE, "Nothing was judged: turnproof's own control failed, so the harness is broken"
        )
    if not report.adapters:
        return Sentence(Status.INCONCLUSIVE, "Nothing was measured: no adapter takes part in this run")
    if not report.complete:
        return Sentence(
            Status.INCONCLUSIVE, "This run was cut, so it certifies nothing; what follows is what was there"
        )
    if not any(one.requirements for one in report.adapters.values()):
        return Sentence(Status.INCONCLUSIVE, "Nothing was measured")
    status, words = _standing(report)
    return Sentence(status, words, _proof(report))


def _standing(report: Certification) -> tuple[Status, str]:
    found = report.adapters
    sound = [name for name, one in found.items() if one.certified]
    violated = {name: count for name, one in found.items() if (count := _count(one, Status.VIOLATED))}
    musts = [name for name, one in found.items() if _count(one, Status.VIOLATED, must=True)]
    open_ = {name: count for name, one in found.items() if (count := _count(one, Status.INCONCLUSIVE))}
    if len(sound) == len(found):
        some = f", though {counted(sum(violated.values()), 'SHOULD')} violated" if violated else ""
        return Status.HELD, f"{_names(sound)} {_is(sound)} certified{some}"
    if musts:
        rest = [name for name in found if name not in musts]
        others = f", {_names(rest)} {_is(rest)}" if rest and all(found[name].certified for name in rest) else ""
        deciding = sum(_count(found[name], Status.VIOLATED, must=True) for name in musts)
        aside = sum(violated[name] for name in musts) - deciding
        broken = (
            f"{counted(deciding, 'MUST')} and {counted(aside, 'SHOULD')}" if aside else counted(deciding, "requirement")
        )
        return Status.VIOLATED, f"{_names(musts)} {_is(musts)} not certified{others}: {broken} violated"
    if report.problems:
        return Status.VIOLATED, f"{_names(list(found))} {_is(list(found))} not certified: {report.problems[0]}"
    if open_:
        undecided = counted(sum(open_.values()), "requirement")
        names = [name for name in found if not found[name].certified]
        return Status.INCONCLUSIVE, f"{_names(names)} {_is(names)} not certified: {undecided} could not be decided"
    accepted = sum(_count(one, Status.KNOWN_ISSUE) for one in found.values())
    if accepted and all(one.certified or one.conditional for one in found.values()):
        names = [name for name, one in found.items() if one.conditional and not one.certified]
        return Status.KNOWN_ISSUE, f"{_names(names)} {_is(names)} certified but for {counted(accepted, 'known issue')}"
    return (
        Status.INCONCLUSIVE,
        "All that was measured is held, but not everything was measured, so nothing is certified",
    )


def _proof(report: Certification) -> str:
    claims = list(dict.fromkeys(one.claim for one in report.adapters.values()))
    how_far = join_words(claims)
    how = f"{how_far[:1].upper()}{how_far[1:]} at depth {report.depth}"
    return f"{how}, against profiles {report.profiles}, on {day(report.started)}"


def _names(names: Sequence[str]) -> str:
    if len(names) > HEADLINE_NAMES:
        return counted(len(names), "adapter")
    return join_words(names)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _count(found: AdapterReport, status: Status, *, must: bool = False) -> int:
    return sum(one.status is status and (one.level == "MUST" or not must) for one in found.requirements.values())
