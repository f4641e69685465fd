"""Both paths of a run beside each other, the places that findings point to, and when what happened."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from turnproof.judge.finding import Place, Side
from turnproof.judge.run_log import Run, TranscriptLine
from turnproof.report.page.conversation import Scene, Scenes
from turnproof.report.page.timeline import ms, timeline
from turnproof.report.page.transcripts import Transcripts
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import CallBegan, Transcript, WireRequest, WireResponse

from .exchanges import transcript, user
from .runs import write_run

TEXTS = ["hi there", "are you there"]
BOTH = (
    transcript("stateless", TEXTS, [user("hi there"), user("are you there")]),
    transcript("legacy", TEXTS, [user("are you there")]),
)
STATELESS, LEGACY = "tools/two/stateless/stream", "tools/two/legacy/stream"


def at(path: str, side: Side = Side.REQUEST, call: int = 0, **more: object) -> Place:
    exchange = 0 if side in (Side.REQUEST, Side.STREAM) else -1
    place = Place(side=side, scenario="tools/two", path=path, mode="stream", turn=0, call=call, exchange=exchange)
    return replace(place, **more)


def run_of(folder: Path, *transcripts: Transcript) -> tuple[Run, EvidenceStore]:
    store = EvidenceStore(folder / "evidence")
    lines = [TranscriptLine(adapter="anthropic", key=one.key, digest=store.put(one)) for one in transcripts]
    return write_run(folder / "run.ndjson", transcripts=lines), store


def scenes(folder: Path, *transcripts: Transcript) -> Scenes:
    run, store = run_of(folder, *(transcripts or BOTH))
    return Scenes(Transcripts(run, "anthropic", store))


def here(scene: Scene) -> list[tuple[str, tuple[str, ...]]]:
    """The first words of each line that is marked, with the paths it is marked on."""
    rows = [row for turn in scene.turns for row in turn.rows if row.here]
    return [((row.left or row.right).label.split()[0], row.here) for row in rows]  # type: ignore[union-attr]


def test_the_line_is_marked_that_shows_the_side_of_the_place(tmp_path: Path) -> None:
    report_scenes = scenes(tmp_path)
    scene = report_scenes.of(LEGACY, [at("legacy")], "id")
    assert (scene.id, scene.scenario, scene.mode, scene.paths) == ("id", "tools/two", "stream", ("stateless", "legacy"))
    assert set(scene.evidence) == {"stateless", "legacy"}
    assert here(scene) == [("→", ("legacy",))]
    assert [(turn.turn, turn.here) for turn in scene.turns] == [(0, True), (-1, False)]
    assert scene.wire is not None
    assert scene.wire.path == "legacy"
    for side, label in ((Side.STREAM, "←"), (Side.RESPONSE, "returned,"), (Side.HISTORY, "call")):
        assert here(report_scenes.of(LEGACY, [at("legacy", side)], "id")) == [(label, ("legacy",))]


def test_both_sides_are_marked_where_both_fail(tmp_path: Path) -> None:
    scene = scenes(tmp_path).of(STATELESS, [at("stateless", Side.RESPONSE), at("legacy", Side.RESPONSE)], "id")
    assert {paths for _, paths in here(scene)} == {("stateless", "legacy")}
    # What reads alike on both is still told once.
    assert any(row.same for turn in scene.turns for row in turn.rows if row.here)


def test_a_place_without_a_call_marks_its_turn(tmp_path: Path) -> None:
    scene = scenes(tmp_path).of(LEGACY, [at("legacy", Side.HISTORY, -1)], "id")
    assert here(scene) == []
    assert scene.turns[0].here
    assert scene.wire is None


def test_the_place_of_another_run_marks_nothing(tmp_path: Path) -> None:
    scene = scenes(tmp_path).of(LEGACY, [at("legacy", scenario="tools/one")], "id")
    assert here(scene) == []
    assert not any(turn.here for turn in scene.turns)


def test_a_path_that_was_not_run_leaves_the_other_alone(tmp_path: Path) -> None:
    scene = scenes(tmp_path, BOTH[1]).of(LEGACY, [at("legacy")], "id")
    assert scene.paths == ("legacy",)
    assert all(row.left is None for turn in scene.turns for row in turn.rows)


def test_evidence_of_one_side_that_is_gone_is_said_and_the_other_told(tmp_path: Path) -> None:
    run, store = run_of(tmp_path, *BOTH)
    store.path(run.transcripts[0].digest).unlink()
    scene = Scenes(Transcripts(run, "anthropic", store)).of(LEGACY, [at("legacy")], "id")
    (problem,) = scene.problems
    assert "is missing: no file" in problem
    assert any(row.right is not None for turn in scene.turns for row in turn.rows)


def test_evidence_that_was_changed_is_not_shown(tmp_path: Path) -> None:
    run, store = run_of(tmp_path, *BOTH)
    store.path(run.transcripts[0].digest).write_bytes(store.path(run.transcripts[1].digest).read_bytes())
    source = Transcripts(run, "anthropic", store).of(STATELESS)
    assert "was changed" in source.problem
    assert source.transcript is None


def test_a_dialect_that_nobody_knows_has_its_conversation_all_the_same(tmp_path: Path) -> None:
    scene = scenes(tmp_path, *(replace(one, dialect="made-up") for one in BOTH)).of(LEGACY, [at("legacy")], "id")
    assert scene.turns
    assert scene.wire is None
    assert len(scene.problems) == 2


def test_a_run_that_is_not_part_of_the_report_is_said(tmp_path: Path) -> None:
    report_scenes = scenes(tmp_path)
    scene = report_scenes.of("gone/legacy/stream", [], "id")
    assert scene.problems == ("gone/legacy/stream: the run's transcript is not part of this report",)
    assert scene.turns == ()
    assert report_scenes.name_of(LEGACY) == "tools/two/stream"


# The time line


def timed(one: Transcript) -> Transcript:
    times = {CallBegan: {"at_ms": 100.0, "ms": 40.0}, WireRequest: {"at_ms": 110.0}, WireResponse: {"ms": 20.0}}
    return replace(one, events=tuple(replace(event, **times.get(type(event), {})) for event in one.events))


def test_calls_and_exchanges_are_drawn_where_they_lie_in_time() -> None:
    line = timeline(timed(BOTH[0]))
    assert line is not None
    call, exchange = line.bars
    assert line.title == "1 call and 1 exchange in 40 ms"
    assert call.words == "turn 0, call 0: 40 ms, from 0.0 ms"
    assert exchange.words == "exchange 0, POST /v1/messages: 20 ms, from 10 ms"
    assert call.x == 0
    assert call.x < exchange.x < exchange.x + exchange.width < call.width
    assert call.y != exchange.y


def test_evidence_without_times_has_no_time_line() -> None:
    assert timeline(BOTH[0]) is None


def test_times_are_in_no_digest_and_those_of_the_later_run_stay(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path)
    assert store.put(BOTH[0]) == store.put(timed(BOTH[0]))
    (digest,) = store.digests()
    assert timeline(store.get(digest)) is not None
    assert store.verify(digest) is None


def test_durations_are_told_in_a_unit_that_fits() -> None:
    assert [ms(0.4), ms(12.4), ms(3210)] == ["0.4 ms", "12 ms", "3.2 s"]
