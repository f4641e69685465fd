"""`mutants --resume`: runs are kept as they end, and are not made again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from turnproof.commands.certify.kept_runs import KeptRuns, MadeWith
from turnproof.commands.certify.mutants import Runs
from turnproof.errors import UsageError
from turnproof.judge.run_log import Environment
from turnproof.run.driver import RunSpec
from turnproof.run.evidence import digest
from turnproof.run.transcript import RunEnded, RunKey, Transcript
from turnproof.scenarios.model import Scenario

WITH = MadeWith(
    turnproof="1", sources="abc", environment=Environment("3.11", "linux"), seed=0, subject="mine", model="m"
)
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
    kept = KeptRuns(tmp_path / "kept", WITH)
    assert kept.find(spec()) is None
    for mutant in (None, "late", "early"):
        kept.add(spec(mutant), transcript(spec(mutant), str(mutant)))
    again = KeptRuns(tmp_path / "kept", WITH)
    for mutant in (None, "late", "early"):
        found = again.find(spec(mutant))
        assert found is not None
        assert digest(found) == digest(transcript(spec(mutant), str(mutant)))
    assert again.find(spec("other")) is None
    assert again.find(spec("late", "legacy")) is None
    again.remove()
    assert not (tmp_path / "kept").exists()


def test_a_line_that_was_cut_is_measured_again(tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path, WITH)
    kept.add(spec("a"), transcript(spec("a")))
    kept.add(spec("b"), transcript(spec("b")))
    log = tmp_path / "runs.ndjson"
    log.write_bytes(log.read_bytes()[:-5])
    again = KeptRuns(tmp_path, WITH)
    assert again.find(spec("a")) is not None
    assert again.find(spec("b")) is None
    again.add(spec("b"), transcript(spec("b")))
    assert KeptRuns(tmp_path, WITH).find(spec("b")) is not None


def test_damaged_evidence_is_measured_again(tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path, WITH)
    kept.add(spec(), transcript(spec()))
    next((tmp_path / "evidence").iterdir()).write_bytes(b"damaged")
    assert KeptRuns(tmp_path, WITH).find(spec()) is None


@pytest.mark.parametrize("changed", [{"sources": "other"}, {"seed": 1}, {"model": "x"}, {"turnproof": "2"}])
def test_runs_that_were_made_otherwise_are_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    KeptRuns(tmp_path, WITH).add(spec(), transcript(spec()))
    with pytest.raises(UsageError, match="were made with other sources"):
        KeptRuns(tmp_path, msgspec.structs.replace(WITH, **changed))


def test_a_damaged_log_is_refused_with_what_to_do(tmp_path: Path) -> None:
    KeptRuns(tmp_path, WITH)
    with (tmp_path / "runs.ndjson").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(UsageError, match=r"remove .* to begin again"):
        KeptRuns(tmp_path, WITH)


def test_what_is_kept_counts_as_made(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []

    class Telling:
        def __call__(self, done: int, total: int, what: str) -> None:
            told.append((done, total, what))

        def begun(self, what: str) -> None: ...

        def stage(self, things: str) -> None: ...

        def count(self, status: object) -> None: ...

    kept = KeptRuns(tmp_path, WITH)
    kept.add(spec("late"), transcript(spec("late")))
    runs = Runs(Telling(), total=2, kept=KeptRuns(tmp_path, WITH))
    assert runs._take_over(spec("late"))
    assert not runs._take_over(spec("early"))
    assert runs.taken_over == 1
    assert list(runs.broken["late"]) == [spec().key]
    runs._keep(spec("early"), transcript(spec("early")))
    assert KeptRuns(tmp_path, WITH).find(spec("early")) is not None
    assert [done for done, _, _ in told] == [1, 2]
