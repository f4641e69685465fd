"""`mutants --resume`: runs are kept as they end, and are not made again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec
import pytest

from turnproof.commands.certify.resumable_place import ResumablePlace
from turnproof.commands.certify.run_store import MadeWith, RunStore, run_name
from turnproof.errors import UsageError
from turnproof.judge.run_log import Environment
from turnproof.run.driver import RunSpec
from turnproof.run.driver.run_place import Progress, RunPlace
from turnproof.run.evidence import digest
from turnproof.run.transcript import RunEnded, RunKey, Transcript
from turnproof.scenarios.model import Scenario
from turnproof.subject import Subject

WITH = MadeWith(turnproof="1", sources="abc", environment=Environment("3.11", "linux"), seed=0, subjects={"mine": "m"})
SCENARIO = Scenario(name="basics/plain", title="Plain", turns=())


def spec(mutant: str | None = None, path: str = "stateless") -> RunSpec:
    key = msgspec.convert({"scenario": SCENARIO.name, "path": path}, RunKey)
    return RunSpec("mine", SCENARIO, key, mutant=mutant)


def transcript(of: RunSpec, detail: str = "") -> Transcript:
    return Transcript(
        adapter="mine",
        dialect="anthropic-messages",
        model="m",
        backend="emulate",
        key=of.key,
        seed=0,
        events=(RunEnded(how="died", detail=detail),),
    )


def test_a_run_that_was_kept_is_found_by_whoever_comes_next(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path / "kept", WITH)
    assert run_store.find(run_name(spec())) is None
    for mutant in (None, "late", "early"):
        run_store.add(run_name(spec(mutant)), transcript(spec(mutant), str(mutant)))
    again = RunStore(tmp_path / "kept", WITH)
    for mutant in (None, "late", "early"):
        found = again.find(run_name(spec(mutant)))
        assert found is not None
        assert digest(found) == digest(transcript(spec(mutant), str(mutant)))
    assert again.find(run_name(spec("other"))) is None
    assert again.find(run_name(spec("late", "legacy"))) is None
    again.remove()
    assert not (tmp_path / "kept").exists()


def test_a_line_that_was_cut_is_measured_again(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path, WITH)
    run_store.add(run_name(spec("a")), transcript(spec("a")))
    run_store.add(run_name(spec("b")), transcript(spec("b")))
    log = tmp_path / "runs.ndjson"
    log.write_bytes(log.read_bytes()[:-5])
    again = RunStore(tmp_path, WITH)
    assert again.find(run_name(spec("a"))) is not None
    assert again.find(run_name(spec("b"))) is None
    again.add(run_name(spec("b")), transcript(spec("b")))
    assert RunStore(tmp_path, WITH).find(run_name(spec("b"))) is not None


def test_damaged_evidence_is_measured_again(tmp_path: Path) -> None:
    run_store = RunStore(tmp_path, WITH)
    run_store.add(run_name(spec()), transcript(spec()))
    next(tmp_path.glob("*.zlib")).write_bytes(b"damaged")
    assert RunStore(tmp_path, WITH).find(run_name(spec())) is None


@pytest.mark.parametrize(
    "changed", [{"sources": "other"}, {"seed": 1}, {"subjects": {"mine": "x"}}, {"turnproof": "2"}]
)
def test_runs_that_were_made_otherwise_are_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    RunStore(tmp_path, WITH).add(run_name(spec()), transcript(spec()))
    with pytest.raises(UsageError, match="were made with other sources"):
        RunStore(tmp_path, msgspec.structs.replace(WITH, **changed))


def test_a_damaged_log_is_refused_with_what_to_do(tmp_path: Path) -> None:
    RunStore(tmp_path, WITH)
    with (tmp_path / "runs.ndjson").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(UsageError, match=r"remove .* to begin again"):
        RunStore(tmp_path, WITH)


class Place(RunPlace):
    """A place whose runs are counted, and say how many there were."""

    def __init__(self) -> None:
        self.specs: list[RunSpec] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def warm(self, modules: Iterable[str]) -> None: ...

    def subject(self, name: str) -> Subject:
        raise AssertionError(name)

    def run(self, spec: RunSpec) -> Transcript:
        self.specs.append(spec)
        return transcript(spec, f"run {len(self.specs)}")

    def make_runs(self, specs: Iterable[RunSpec], progress: Progress) -> None:
        for spec in specs:
            progress.done(spec, self.run(spec))


def made_in(folder: Path, *specs: RunSpec) -> tuple[list[str], int, int]:
    """What each run says, how many were taken over, and how many were made."""
    place, details = Place(), list[str]()
    with ResumablePlace(place, RunStore(folder, WITH)) as resumable:
        resumable.run_all(specs, lambda _, found: details.append(found.end.detail))
        details += [resumable.run(spec).end.detail for spec in specs]
    return details, resumable.taken_over, len(place.specs)


def test_what_is_kept_is_not_made_again_and_a_second_run_of_the_same_is_another_one(tmp_path: Path) -> None:
    first = made_in(tmp_path, spec("late"), spec("early"))
    assert first == (["run 1", "run 2", "run 3", "run 4"], 0, 4)
    assert made_in(tmp_path, spec("late"), spec("early")) == (first[0], 4, 0)


def test_a_part_is_taken_over_and_the_rest_is_made(tmp_path: Path) -> None:
    made_in(tmp_path, spec("late"))
    details, taken_over, count = made_in(tmp_path, spec("late"), spec("early"))
    assert (sorted(details), taken_over, count) == (["run 1", "run 1", "run 2", "run 2"], 2, 2)


def test_what_is_made_ahead_is_asked_for_later_and_is_not_taken_over(tmp_path: Path) -> None:
    place = Place()
    with ResumablePlace(place, RunStore(tmp_path, WITH)) as resumable:
        resumable.prepare([spec("a"), spec("b")])
        resumable.prepare([spec("a")])
        assert len(place.specs) == 2
        assert resumable.run(spec("b")).end.detail == "run 2"
        assert resumable.run(spec("b")).end.detail == "run 3"
        assert resumable.taken_over == 0


def test_runs_of_other_scenarios_under_the_same_name_are_others() -> None:
    other = replace(spec(), scenario=msgspec.structs.replace(SCENARIO, title="Other"))
    assert run_name(other) != run_name(spec())
    assert run_name(replace(spec(), issued={"sig": ("a", "b")})) != run_name(spec())
    elsewhere = replace(spec(), scenario=msgspec.structs.replace(SCENARIO, file="/elsewhere.yaml"))
    assert run_name(elsewhere) == run_name(spec())
