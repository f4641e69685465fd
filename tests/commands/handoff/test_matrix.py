"""The matrix: who takes part, where a conversation changes hands, and what becomes of one that does not arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import pytest

from commands.handoff.parties import HERE
from turnproof._base.exit_codes import Exit
from turnproof.commands.handoff import Handoff, HandoffOptions, engine, hand_over
from turnproof.errors import BindingError, UsageError
from turnproof.report.progress import Silence
from turnproof.run.driver.run_place import PlaceReports, RunPlace
from turnproof.run.places import run_place

JOURNEY = str(Path(__file__).with_name("journey.yaml"))


def matrix(*parties: str, **options: Any) -> Handoff:
    named = tuple(party if ":" in party or "=" in party else f"{HERE}:{party}" for party in parties)
    return hand_over(HandoffOptions(named, **{"scenario": JOURNEY, "in_process": True, **options}))


@pytest.fixture(scope="module")
def sound() -> Handoff:
    return matrix("FIRST", "SECOND")


def test_each_ordered_pair_has_a_route_for_each_place_of_the_change(sound: Handoff) -> None:
    assert [(route.begins.adapter, route.goes_to.adapter, route.after) for route in sound.routes] == [
        ("first", "second", 1),
        ("second", "first", 1),
    ]


def test_a_route_goes_there_and_back_over_all_turns(sound: Handoff) -> None:
    legs = sound.routes[0].legs
    assert [(leg.party.adapter, leg.first, leg.last) for leg in legs] == [
        ("first", 1, 1),
        ("second", 2, 2),
        ("first", 3, 3),
    ]


def test_right_adapters_hand_over_soundly(sound: Handoff) -> None:
    assert sound.exit_code is Exit.OK
    assert all(leg.held > 10 for route in sound.routes for leg in route.legs)


def test_a_party_that_forgets_what_was_said_elsewhere_breaks_the_matrix() -> None:
    found = matrix("FIRST", "FORGETFUL")
    assert found.exit_code is Exit.VIOLATIONS
    there = found.routes[0].legs[1]
    assert "handoff/foreign-history-is-sent" in {one.requirement for one in there.violated}
    assert {loss.fate for loss in there.losses} == {"left-out"}


def test_a_conversation_that_does_not_arrive_ends_there() -> None:
    found = matrix("FIRST", "CLOSED")
    assert [len(route.legs) for route in found.routes] == [2, 1]
    assert not any(route.sound for route in found.routes)
    assert found.exit_code is Exit.VIOLATIONS


def test_who_lacks_what_the_conversation_needs_takes_no_part() -> None:
    found = matrix("FIRST", "SECOND", "MUTE")
    assert found.left_out == {"mute": "it does not claim tools"}
    assert {party.adapter for party in found.parties} == {"first", "second"}


def test_two_models_of_one_adapter_are_a_pair() -> None:
    found = matrix(f"{HERE}:SECOND=glm-4.6", f"{HERE}:SECOND=glm-4.7")
    assert [party.model for party in found.parties] == ["glm-4.6", "glm-4.7"]
    assert found.exit_code is Exit.OK


def test_both_paths_of_one_adapter_are_a_pair() -> None:
    found = matrix("turnproof.wire.controls.zai:CONTROL")
    assert [(route.begins.path, route.goes_to.path) for route in found.routes] == [
        ("stateless", "legacy"),
        ("legacy", "stateless"),
    ]
    assert found.exit_code is Exit.OK


class RecordedProgress(Silence):
    """A progress that records the counts and workers that it is called with."""

    def __init__(self) -> None:
        self.counts: list[tuple[int, int]] = []
        self.cluster: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, done: int, total: int, what: str) -> None:
        self.counts.append((done, total))

    def workers(self, count: int) -> None:
        self.cluster.append(count)


def test_progress_counts_the_runs_of_all_legs_and_knows_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = RecordedProgress()
    monkeypatch.setattr(engine, "progress", lambda command: tracker)
    matrix("FIRST", "SECOND")
    assert tracker.counts == [(done, 6) for done in range(1, 7)]


def test_progress_shows_the_workers_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = RecordedProgress()

    def on_a_cluster(cluster: object, subjects: Any, *, reports: PlaceReports, **options: Any) -> RunPlace:
        reports.workers(3)
        return run_place(None, subjects, reports=reports, **options)

    monkeypatch.setattr(engine, "progress", lambda command: tracker)
    monkeypatch.setattr(engine, "run_place", on_a_cluster)
    matrix("FIRST", "SECOND")
    assert tracker.cluster == [3]


def test_evidence_of_every_leg_is_kept(tmp_path: Path) -> None:
    found = matrix("FIRST", "SECOND", out=tmp_path)
    digests = {path.name.partition(".")[0] for path in (tmp_path / "evidence").iterdir()}
    assert digests == {leg.evidence for route in found.routes for leg in route.legs}


@pytest.mark.parametrize(
    ("parties", "options", "words"),
    [
        (("FIRST",), {}, "name two adapters"),
        (("FIRST", "MUTE"), {}, "mute: it does not claim tools"),
        (("FIRST", "SECOND"), {"path": "legacy"}, "first: it has no legacy path"),
        (("FIRST", "SECOND"), {"after": (2,)}, "can change hands after turn 1, not after 2"),
        (("FIRST", "SECOND"), {"scenario": "basics/plain"}, "a conversation needs three"),
        (("FIRST", "SECOND"), {"scenario": "basics/*"}, "a hand-off is of one conversation"),
        (("reference@anthropic", "FIRST"), {}, "is no adapter"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(
    parties: tuple[str, ...], options: dict[str, Any], words: str
) -> None:
    named = tuple(party if "@" in party else f"{HERE}:{party}" for party in parties)
    with pytest.raises(UsageError, match=words):
        hand_over(HandoffOptions(named, **{"scenario": JOURNEY, "in_process": True, **options}))


def test_an_adapter_without_its_model_is_refused() -> None:
    with pytest.raises(BindingError, match="the model behind the = is missing"):
        matrix(f"{HERE}:FIRST=", "SECOND")
