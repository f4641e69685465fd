"""What an adapter does to its process reaches no other adapter: every poison beside an innocent neighbour.

Six of them here; `nox -s poisons` tries all of `docs/isolation.md`.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.limits import Limits
from turnproof.run.evidence import digest
from turnproof.run.transcript import Failed, RunKey, Transcript

from .talks import scenario

HERE = str(Path(__file__).parent)

PAGE = Path(__file__).parents[3] / "docs" / "isolation.md"
FEW = ("SOCKETS", "RECURSION_LIMIT", "FOLDER", "CHILDREN", "DAEMONS", "EXIT")
EVERY = "TURNPROOF_EVERY_POISON" in os.environ


def ends_on_the_page() -> dict[str, str]:
    """How a run of each poison ends, as the table in the documentation says."""
    return dict(re.findall(r"^\| `([A-Z_]+)`: .* \| (\w+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))


@pytest.fixture(scope="module")
def place(forked_workers: None) -> Iterator[Runner]:
    """One place, in which the runs of all adapters follow each other."""
    sys.path.insert(0, HERE)
    with Runner(jobs=1, time_limit=4.0) as runner:
        yield runner
    sys.path.remove(HERE)


def talk(runner: Runner, adapter: str) -> Transcript:
    script = scenario("first answer", "second answer")
    return runner.run(RunSpec(f"poisons:{adapter}", script, RunKey(script.name, "stateless", "batch")))


@pytest.fixture(scope="module")
def alone(place: Runner) -> str:
    """The digest of the innocent adapter where nobody was before it."""
    transcript = talk(place, "INNOCENT")
    assert transcript.end.how == "completed"
    return digest(transcript)


@pytest.mark.parametrize("poison", sorted(ends_on_the_page()) if EVERY else FEW)
def test_a_neighbour_keeps_its_digest_whatever_an_adapter_does(place: Runner, alone: str, poison: str) -> None:
    spoiled = talk(place, poison)
    assert digest(talk(place, "INNOCENT")) == alone
    assert spoiled.end.how == ends_on_the_page()[poison]
    talk(place, poison)  # in a worker that it has spoiled, or a new one
    assert digest(talk(place, "INNOCENT")) == alone


def test_the_page_has_every_poison(place: Runner) -> None:
    assert set(importlib.import_module("poisons").POISONS) == set(ends_on_the_page())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group is ended")
@pytest.mark.parametrize(("poison", "count"), [("CHILDREN", 6), ("DAEMONS", 4)])
def test_processes_that_are_left_behind_are_told_and_ended(place: Runner, poison: str, count: int) -> None:
    assert talk(place, poison).end.processes_left == ("sleep",) * count
    running = [one for one in psutil.Process().children(recursive=True) if one.name() == "sleep"]
    assert running == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group is ended")
def test_processes_of_a_worker_that_hangs_are_ended_in_whatever_session_they_are(place: Runner) -> None:
    assert talk(place, "DAEMONS_OF_STOPPED").end.how == "hung"
    assert [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", "399"]] == []


def test_a_worker_works_in_a_folder_of_its_own_which_ends_with_it() -> None:
    with Runner(jobs=1) as runner:
        _, folder, temporary, found = talk(runner, "PLACES").end.stdout.splitlines()[0].split()
        assert found == "0"
        assert Path(folder).is_dir()
        assert Path(folder).parent == Path(temporary).parent
        assert not Path(HERE).is_relative_to(Path(folder).parent)
    assert not Path(folder).parent.exists()


def test_files_that_are_left_behind_are_told_and_removed(place: Runner) -> None:
    left = talk(place, "LITTER").end.files_left
    assert "work/notes.txt" in left
    assert "work/folder/empty/" in left
    assert any(name.startswith("tmp/litter-") for name in left)
    first, second = talk(place, "LITTER"), talk(place, "LITTER")
    assert digest(first) == digest(second)  # `mkdir` fails in the second call of each run, and not in the first


def test_a_run_with_threads_left_is_the_last_of_its_worker(place: Runner) -> None:
    first = talk(place, "THREADS").end
    assert first.threads_left == 40
    assert talk(place, "THREADS").end.threads_left == 40


def test_a_thread_that_is_about_to_end_is_not_left(place: Runner) -> None:
    assert talk(place, "BRIEF_THREAD").end.threads_left == 0


def test_a_subject_cannot_tell_that_it_is_tested(place: Runner) -> None:
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert talk(place, "TEST_RUNNERS").end.stdout.splitlines()[0] == "[] False"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone keeps limits")
def test_memory_beyond_the_limit_is_refused_in_the_process() -> None:
    with Runner(jobs=1, limits=Limits(memory=512 * 1024 * 1024)) as runner:
        (failed, *_) = talk(runner, "MEMORY").of(Failed)
        assert failed.error == "MemoryError"
        assert talk(runner, "INNOCENT").end.how == "completed"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone keeps limits")
def test_more_processes_than_the_limit_end_the_run() -> None:
    with Runner(jobs=1, limits=Limits(processes=2)) as runner:
        end = talk(runner, "CHILDREN").end
        assert end.how == "died"
        assert end.detail.startswith("the run had ")
        assert "`workers.processes` allows 2" in end.detail
        assert talk(runner, "INNOCENT").end.how == "completed"


def test_a_worker_has_the_keys_of_its_own_service_and_of_no_other(
    place: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-subject")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp-of-another-subject")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-this-service")
    monkeypatch.setenv("SOME_SETTING", "as it was")
    stdout = talk(place, "KEYS").end.stdout
    assert stdout.splitlines()[0] == "ANTHROPIC_API_KEY SOME_SETTING"
