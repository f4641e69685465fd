"""One run as a conversation, both paths beside each other, with the places of findings marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...judge.finding import Place
from ...judge.run_log import TranscriptLine
from ...provider import PATHS, Path
from ...run.transcript import Transcript
from ..conversation import Entry
from ..side_by_side import TurnRows, side_by_side
from .request import Wire, wire_of
from .timeline import Timeline, timeline
from .transcripts import Source, Transcripts

Places = Mapping[Path, Sequence[Place]]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the conversation. `here` names the paths on which a finding points to it."""

    left: Entry | None
    right: Entry | None
    same: bool
    here: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the scenario, -1 for what belongs to none. `here`: a finding points to it."""

    turn: int
    requests: tuple[int, int]
    same: bool
    here: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A scenario in one mode, as it went on each path.

    `evidence` are the digests by path, `problems` what of it is missing, a line each. `wire` has the request that a
    finding points into, `timelines` when what happened, as far as it was measured.
    """

    id: str
    scenario: str
    mode: str
    paths: tuple[Path, ...]
    evidence: Mapping[Path, str]
    problems: tuple[str, ...]
    turns: tuple[Turn, ...]
    wire: Wire | None
    timelines: Mapping[Path, Timeline]


class Scenes:
    """Tells the runs of one adapter, from their evidence."""

    def __init__(self, transcripts: Transcripts) -> None:
        self._transcripts = transcripts
        self._lines = transcripts.lines

    def name_of(self, key: str) -> str:
        """What the scene is called that the run with this key is one side of: its scenario and mode."""
        line = self._lines.get(key)
        return key if line is None else f"{line.key.scenario}/{line.key.mode}"

    def of(self, key: str, places: Sequence[Place], id: str) -> Scene:
        """The scene that the run with this key is one side of, with those `places` marked that lie in it."""
        line = self._lines.get(key)
        if line is None:
            problem = f"{key}: the run's transcript is not part of this report"
            return Scene(id, key, "", (), {}, (problem,), (), None, {})
        lines = {path: found for path in PATHS if (found := self._side(line, path))}
        sources = {path: self._transcripts.of(str(found.key)) for path, found in lines.items()}
        own_places = {path: [one for one in places if one.run == str(found.key)] for path, found in lines.items()}
        transcripts = {path: one.transcript for path, one in sources.items() if one.transcript is not None}
        turns = side_by_side(transcripts.get("stateless"), transcripts.get("legacy"))
        return Scene(
            id=id,
            scenario=line.key.scenario,
            mode=line.key.mode,
            paths=tuple(lines),
            evidence={path: found.digest for path, found in lines.items()},
            problems=tuple(one.problem for one in sources.values() if one.problem),
            turns=tuple(_turn(turn, own_places) for turn in turns),
            wire=_wire(sources, own_places, line.key.path),
            timelines=_timelines(transcripts),
        )

    def _side(self, line: TranscriptLine, path: Path) -> TranscriptLine | None:
        if line.key.path == path:
            return line
        key, mode = line.key, line.key.mode
        lines = (other for other in self._lines.values() if other.key.scenario == key.scenario)
        return next((one for one in lines if (one.key.path, one.key.mode, one.key.repeat) == (path, mode, 0)), None)


def _wire(sources: Mapping[Path, Source], places: Places, path: Path) -> Wire | None:
    views = {path: one.view for path, one in sources.items() if one.view is not None}
    order = sorted(places, key=lambda one: one != path)
    return next((wire for one in order if (wire := wire_of(views, one, places[one]))), None)


def _timelines(transcripts: Mapping[Path, Transcript]) -> dict[Path, Timeline]:
    return {path: picture for path, one in transcripts.items() if (picture := timeline(one)) is not None}


def _turn(turn: TurnRows, places: Places) -> Turn:
    rows = tuple(_rows(turn, places))
    is_here = any(place.turn == turn.turn >= 0 for some in places.values() for place in some)
    return Turn(turn.turn, turn.requests, turn.same, is_here or any(row.here for row in rows), rows)


def _rows(turn: TurnRows, places: Places) -> Iterator[Row]:
    for row in turn.rows:
        here = tuple(
            path
            for path, some in places.items()
            if (own_entry := row.left if path == "stateless" else row.right) is not None
            and any(_is_at(own_entry, place) for place in some)
        )
        # Told once where both read alike, unless it is to be marked on one of them.
        yield Row(row.left, row.right, row.same and len(here) != 1, here)


def _is_at(entry: Entry, place: Place) -> bool:
    """Whether a place lies in what this line tells."""
    if entry.shows is not place.side:
        return False
    if place.exchange >= 0 and entry.exchange >= 0:
        return place.exchange == entry.exchange
    return place.call == entry.call >= 0
