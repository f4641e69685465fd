"""What is not held: one adapter and one requirement, with what was seen on each path and the run it was seen in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...evidence import EvidenceStore
from ...provider import Path
from ...runlog import AdapterLine, RequirementLine, ResultLine, Run
from ...verdict import Status, worst
from ..certification import Certification, reproduce
from ..failures import SHOWN
from ..html import anchor
from .place import Place, place_of
from .scene import Scene, Scenes

_MOST_SCENES = 60
"""Times that one page tells a run: more would make it heavy, and nobody reads them. The rest is named and linked."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen on one path. `diff` are lines with their kind: `plus`, `minus` or `same`; `evidence` digests."""

    path: str
    status: Status
    message: str
    diff: tuple[tuple[str, str], ...]
    rests_on: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SceneLink:
    """A run that a case was seen in: told here, or told at `id`, or (too many) not on this page, with an empty id."""

    name: str
    scene: Scene | None
    id: str


@dataclass(frozen=True, slots=True)
class Case:
    """A requirement that an adapter does not hold on some path."""

    adapter: str
    id: str
    status: Status
    claim: str
    seen: tuple[Seen, ...]
    reproduce: str
    scenes: tuple[SceneLink, ...]


class Told:
    """Makes the cases of a run, and tells the runs that something was seen in, as many as a page can bear."""

    def __init__(self, run: Run, report: Certification, store: EvidenceStore) -> None:
        self._run = run
        self._report = report
        self._scenes = {name: Scenes(run, name, store) for name in run.adapters}
        self._scenes_told = 0
        self._told: dict[tuple[str, str], str] = {}

    def case(self, adapter: AdapterLine, requirement: RequirementLine, lines: Sequence[ResultLine]) -> Case | None:
        """The case of an adapter and a requirement; None where every path holds it, or does not claim it."""
        shown = [line for line in lines if line.verdict.status in SHOWN]
        if not shown:
            return None
        return Case(
            adapter=adapter.name,
            id=anchor(adapter.name, requirement.id),
            status=worst(line.verdict.status for line in shown),
            claim=self._report.adapters[adapter.name].claim,
            seen=tuple(_seen(line) for line in shown),
            reproduce=reproduce(self._run, adapter, requirement.id),
            scenes=tuple(self._links(adapter.name, requirement.id, shown)),
        )

    def _links(self, adapter: str, requirement: str, lines: Sequence[ResultLine]) -> Iterator[SceneLink]:
        """The runs that these verdicts speak of, both paths of one scenario and mode together."""
        scenes = self._scenes[adapter]
        keys: dict[str, dict[Path, str]] = {}
        places: dict[str, dict[Path, Place]] = {}
        for line in lines:
            for key in _keys(line):
                name = scenes.name_of(key)
                path = scenes.path_of(key)
                keys.setdefault(name, {}).setdefault(path, key)
                places.setdefault(name, {})
                if line.path == path:
                    places[name][path] = place_of(line.verdict)
        for name, mine in keys.items():
            first = self._told.get((adapter, name), "")
            if self._scenes_told >= _MOST_SCENES:
                yield SceneLink(name, None, first)
                continue
            # The first telling of a run has an address of its own; each later one belongs to its case.
            id = anchor(adapter, requirement, "run", name) if first else anchor(adapter, "run", name)
            self._told.setdefault((adapter, name), id)
            self._scenes_told += 1
            yield SceneLink(name, scenes.of(next(iter(mine.values())), places[name], id), id)


def _keys(line: ResultLine) -> list[str]:
    # A verdict over two runs names both, joined by "and".
    return [key for key in line.verdict.where.split(" and ") if key]


def _seen(line: ResultLine) -> Seen:
    verdict = line.verdict
    return Seen(
        path=line.path,
        status=verdict.status,
        message=verdict.message,
        diff=tuple((_kind(text), text) for text in verdict.detail.splitlines()),
        rests_on=str(verdict.rests_on) if verdict.rests_on is not None else "",
        evidence=verdict.evidence,
    )


def _kind(line: str) -> str:
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")
