"""One run as a timeline, both paths beside each other, with the place of the fault marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...evidence import EvidenceStore
from ...provider import Path
from ...runlog import Run, TranscriptLine
from ...transcript import Transcript
from ..conversation import Entry
from ..side_by_side import TurnRows, side_by_side
from .place import Place
from .wire import Wire, wire_of

PATHS: tuple[Path, Path] = ("stateless", "legacy")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the timeline. `here` names the paths on which the verdict points to it."""

    left: Entry | None
    right: Entry | None
    same: bool
    here: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the scenario, -1 for what belongs to none. `here`: the verdict points to it."""

    turn: int
    requests: tuple[int, int]
    same: bool
    here: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A scenario in one mode, as it went on each path.

    `evidence` are the digests by path, `problems` what of it is missing, a line each. `wire` has the request that the
    verdict points to.
    """

    id: str
    scenario: str
    mode: str
    paths: tuple[Path, ...]
    evidence: Mapping[Path, str]
    problems: tuple[str, ...]
    turns: tuple[Turn, ...]
    wire: Wire | None


class Scenes:
    """Tells the runs of one adapter, from their evidence."""

    def __init__(self, run: Run, adapter: str, store: EvidenceStore) -> None:
        self._adapter = adapter
        self._store = store
        self._lines = {str(line.key): line for line in run.transcripts if line.adapter == adapter}

    def name_of(self, key: str) -> str:
        """What the scene is called that the run with this key is one side of: its scenario and mode."""
        line = self._lines.get(key)
        return key if line is None else f"{line.key.scenario}/{line.key.mode}"

    def path_of(self, key: str) -> Path:
        """The path of the run with this key, also of one that is not part of the report."""
        line = self._lines.get(key)
        return line.key.path if line is not None else "legacy" if "/legacy/" in key else "stateless"

    def of(self, key: str, places: Mapping[Path, Place], id: str) -> Scene:
        """The scene that the run with this key is one side of, with the `places` marked on their paths."""
        line = self._lines.get(key)
        if line is None:
            problem = f"{key}: the run's transcript is not part of this report"
            return Scene(id, key, "", (), {}, (problem,), (), None)
        name, mode = line.key.scenario, line.key.mode
        lines = {path: found for path in PATHS if (found := self._side(line, path))}
        transcripts, problems = self._read(lines)
        rows = side_by_side(transcripts.get("stateless"), transcripts.get("legacy"))
        return Scene(
            id=id,
            scenario=name,
            mode=mode,
            paths=tuple(lines),
            evidence={path: found.digest for path, found in lines.items()},
            problems=tuple(problems),
            turns=tuple(_turn(turn, places) for turn in rows),
            wire=next((wire for path, place in places.items() if (wire := wire_of(transcripts, path, place))), None),
        )

    def _side(self, line: TranscriptLine, path: Path) -> TranscriptLine | None:
        if line.key.path == path:
            return line
        key, mode = line.key, line.key.mode
        wanted = (other for other in self._lines.values() if other.key.scenario == key.scenario)
        return next((one for one in wanted if (one.key.path, one.key.mode, one.key.repeat) == (path, mode, 0)), None)

    def _read(self, lines: Mapping[Path, TranscriptLine]) -> tuple[dict[Path, Transcript], list[str]]:
        transcripts: dict[Path, Transcript] = {}
        problems = []
        for path, line in lines.items():
            if problem := self._store.verify(line.digest):  # what was edited since is no evidence
                problems.append(problem)
            else:
                transcripts[path] = self._store.get(line.digest)
        return transcripts, problems


def _turn(turn: TurnRows, places: Mapping[Path, Place]) -> Turn:
    rows = tuple(_rows(turn, places))
    here = any(place.turn == turn.turn >= 0 for place in places.values()) or any(row.here for row in rows)
    return Turn(turn.turn, turn.requests, turn.same, here, rows)


def _rows(turn: TurnRows, places: Mapping[Path, Place]) -> Iterator[Row]:
    for row in turn.rows:
        here = tuple(
            path
            for path, place in places.items()
            if (mine := row.left if path == "stateless" else row.right) is not None
            and 0 <= place.call == mine.call
            and mine.side in ("wire", "adapter", "trouble")
        )
        # Told once where both read alike, unless it is to be marked on one of them.
        yield Row(row.left, row.right, row.same and len(here) != 1, here)
