"""Both paths of a run beside each other, and the place that a verdict points to."""

from __future__ import annotations

from pathlib import Path

from turnproof.evidence import EvidenceStore
from turnproof.reports.page.place import Place
from turnproof.reports.page.scene import Scene, Scenes
from turnproof.runlog import Run, TranscriptLine
from turnproof.transcript import Transcript

from .exchanges import transcript, user
from .runs import write_run

HELD = ["hi there", "are you there"]
BOTH = (
    transcript("stateless", HELD, [user("hi there"), user("are you there")]),
    transcript("legacy", HELD, [user("are you there")]),
)
STATELESS, LEGACY = "tools/two/stateless/stream", "tools/two/legacy/stream"
CALL = Place(turn=0, call=0)


def run_of(folder: Path, *transcripts: Transcript) -> tuple[Run, EvidenceStore]:
    store = EvidenceStore(folder / "evidence")
    lines = [TranscriptLine(adapter="anthropic", key=one.key, digest=store.put(one)) for one in transcripts]
    return write_run(folder / "run.ndjson", transcripts=lines), store


def here(scene: Scene) -> list[tuple[str, tuple[str, ...]]]:
    """The first words of each line that is marked, with the paths it is marked on."""
    rows = [row for turn in scene.turns for row in turn.rows if row.here]
    return [((row.left or row.right).label.split()[0], row.here) for row in rows]  # type: ignore[union-attr]


def test_the_failing_side_is_marked_at_the_call_that_the_verdict_names(tmp_path: Path) -> None:
    scene = Scenes(*_of(tmp_path)).of(LEGACY, {"legacy": CALL}, "id")
    assert (scene.id, scene.scenario, scene.mode, scene.paths) == ("id", "tools/two", "stream", ("stateless", "legacy"))
    assert set(scene.evidence) == {"stateless", "legacy"}
    assert here(scene) == [("→", ("legacy",)), ("←", ("legacy",)), ("returned,", ("legacy",))]
    assert [(turn.turn, turn.here) for turn in scene.turns] == [(0, True), (-1, False)]
    assert scene.wire is not None
    assert scene.wire.path == "legacy"


def test_both_sides_are_marked_where_both_fail(tmp_path: Path) -> None:
    scene = Scenes(*_of(tmp_path)).of(STATELESS, {"stateless": CALL, "legacy": CALL}, "id")
    assert {paths for _, paths in here(scene)} == {("stateless", "legacy")}
    # What reads alike on both is still told once.
    assert any(row.same for turn in scene.turns for row in turn.rows if row.here)


def test_a_place_without_a_call_marks_its_turn(tmp_path: Path) -> None:
    scene = Scenes(*_of(tmp_path)).of(LEGACY, {"legacy": Place(turn=0)}, "id")
    assert here(scene) == []
    assert scene.turns[0].here
    assert scene.wire is None


def test_a_path_that_was_not_run_leaves_the_other_alone(tmp_path: Path) -> None:
    run, store = run_of(tmp_path, BOTH[1])
    scene = Scenes(run, "anthropic", store).of(LEGACY, {"legacy": CALL}, "id")
    assert scene.paths == ("legacy",)
    assert all(row.left is None for turn in scene.turns for row in turn.rows)


def test_evidence_of_one_side_that_is_gone_is_said_and_the_other_told(tmp_path: Path) -> None:
    run, store = run_of(tmp_path, *BOTH)
    store.path(run.transcripts[0].digest).unlink()
    scene = Scenes(run, "anthropic", store).of(LEGACY, {"legacy": CALL}, "id")
    (problem,) = scene.problems
    assert "is missing: no file" in problem
    assert any(row.right is not None for turn in scene.turns for row in turn.rows)


def test_a_run_that_is_not_part_of_the_report_is_said(tmp_path: Path) -> None:
    scenes = Scenes(*_of(tmp_path))
    scene = scenes.of("gone/legacy/stream", {}, "id")
    assert scene.problems == ("gone/legacy/stream: the run's transcript is not part of this report",)
    assert scene.turns == ()
    assert scenes.path_of("gone/legacy/stream") == "legacy"
    assert scenes.name_of(LEGACY) == "tools/two/stream"


def _of(folder: Path) -> tuple[Run, str, EvidenceStore]:
    run, store = run_of(folder, *BOTH)
    return run, "anthropic", store
