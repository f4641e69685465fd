"""What an adapter does to its process reaches no other adapter: every poison beside an innocent neighbour.

Six of them here; `nox -s poisons` tries all.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import digest
from turnproof.run.transcript import RunKey, Transcript

from .talks import scenario

HERE = str(Path(__file__).parent)

FEW = ("SOCKETS", "RECURSION_LIMIT", "FOLDER", "CHILDREN", "DAEMONS", "EXIT")
ALL = (
    *FEW, "JSON", "OPEN", "ENVIRONMENT", "UMASK", "ROOT", "DESCRIPTORS", "FULL_STDOUT", "MODULES", "TIME", "THREADS",
    "SIGNALS", "PROXY", "TIMEOUT", "GARBAGE", "LOGGING", "FILES", "SEGFAULT", "SYSTEM_EXIT", "INTERRUPT", "RECURSION",
    "STOPPED",
)  # fmt: skip
EVERY = "TURNPROOF_EVERY_POISON" in os.environ


@pytest.fixture(scope="module")
def place() -> Iterator[Runner]:
    """One place, in which the runs of all adapters follow each other."""
    sys.path.insert(0, HERE)
    with Runner(jobs=1, time_limit=4.0) as runner:
        yield runner
    sys.path.remove(HERE)


def talk(runner: Runner, adapter: str) -> Transcript:
    made = scenario("first answer", "second answer")
    return runner.run(RunSpec(f"poisons:{adapter}", made, RunKey(made.name, "stateless", "batch")))


@pytest.fixture(scope="module")
def alone(place: Runner) -> str:
    """The digest of the innocent adapter where nobody was before it."""
    transcript = talk(place, "INNOCENT")
    assert transcript.end.how == "completed"
    return digest(transcript)


@pytest.mark.parametrize("poison", ALL if EVERY else FEW)
def test_a_neighbour_keeps_its_digest_whatever_an_adapter_does(place: Runner, alone: str, poison: str) -> None:
    spoiled = talk(place, poison)
    assert digest(talk(place, "INNOCENT")) == alone
    if poison not in ("EXIT", "SEGFAULT", "STOPPED"):
        assert spoiled.end.how != "hung"
    talk(place, poison)  # in a worker that it has spoiled, or a new one
    assert digest(talk(place, "INNOCENT")) == alone


def test_every_poison_is_in_the_list(place: Runner) -> None:
    assert set(importlib.import_module("poisons").POISONS) == set(ALL)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group is ended")
@pytest.mark.parametrize(("poison", "count"), [("CHILDREN", 6), ("DAEMONS", 4)])
def test_processes_that_are_left_behind_are_told_and_ended(place: Runner, poison: str, count: int) -> None:
    assert talk(place, poison).end.processes_left == ("sleep",) * count
    running = [one for one in psutil.Process().children(recursive=True) if one.name() == "sleep"]
    assert running == []


def test_a_worker_has_the_keys_of_its_own_service_and_of_no_other(
    place: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-subject")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp-of-another-subject")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-this-service")
    monkeypatch.setenv("SOME_SETTING", "as it was")
    stdout = talk(place, "KEYS").end.stdout
    assert stdout.splitlines()[0] == "ANTHROPIC_API_KEY SOME_SETTING"
