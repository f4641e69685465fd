"""Whatever becomes of a run, nothing of its agent is left: no folder, and no process that stands in it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from turnproof.dialects.base import ReplyPart
from turnproof.messages import FinishReason, Text
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver import worker_pool as lines
from turnproof.run.driver.run_folder import RunFolder
from turnproof.run.transcript import RunKey
from turnproof.scenarios.model import Scenario, ScriptRound, Turn

from . import leaving
from .silence import silent_once

ANSWER = ScriptRound((ReplyPart(Text("Roses.")),), FinishReason.STOP)
TALK = Scenario(name="toy/talk", title="Talk", turns=(Turn(user=(Text("What grows here?"),), rounds=(ANSWER,)),))


def spec(agent: str) -> RunSpec:
    return RunSpec(f"{leaving.__name__}:{agent}", TALK, RunKey(TALK.name, "legacy", "stream"))


def left(folders: Path) -> list[psutil.Process]:
    """Processes of the agents of this test, wherever they hang."""
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = one.cmdline()
            if leaving.SLEEP in words and str(folders) in words[-1] and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
    return found


def has_started(folders: Path) -> bool:
    """Whether the agent has started its process."""
    return bool(list(folders.glob("turnproof-*/home/begun")))


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the folders of runs are made; at the end of the test all processes are over."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    for one in left(tmp_path):
        one.kill()


@pytest.mark.parametrize(
    ("agent", "how"),
    [("FAILS", "open-failed"), pytest.param("HANGS", "hung", marks=pytest.mark.long), ("DIES", "died")],
    ids=["fails", "hangs", "dies"],
)
def test_a_run_that_goes_wrong_leaves_nothing(
    agent: str, how: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if agent == "HANGS":
        monkeypatch.setattr(lines, "poller", silent_once(lambda: has_started(folders)))
    with Runner(jobs=1) as runner:
        ended = runner.run(spec(agent)).end
    assert ended.how == how
    assert left(folders) == []
    assert list(folders.glob("turnproof-*")) == []


def test_a_runner_that_is_closed_in_the_middle_of_a_run_leaves_nothing(folders: Path) -> None:
    def run(runner: Runner) -> None:
        with contextlib.suppress(Exception):
            runner.run(spec("HANGS"))

    with Runner(jobs=1) as runner:
        running = threading.Thread(target=run, args=[runner], daemon=True)
        running.start()
        until = time.monotonic() + 60
        # Its process is known by its words, which the system writes when it has begun already.
        while not (has_started(folders) and left(folders)):
            assert time.monotonic() < until, "no process of the agent was seen"
            time.sleep(0.01)
    assert left(folders) == []
    assert list(folders.glob("turnproof-*")) == []


def test_after_an_orderly_run_no_process_is_looked_for() -> None:
    run_folder = RunFolder()
    command = [sys.executable, "-S", "-c", leaving.SLEEP]
    with subprocess.Popen(command, cwd=run_folder.root) as process:
        run_folder.clear(orderly=True)
        assert not Path(run_folder.root).exists()
        assert process.poll() is None
        process.kill()


def test_a_plot_that_was_cleared_is_left_alone() -> None:
    run_folder = RunFolder()
    run_folder.clear(orderly=True)
    run_folder.clear(orderly=False)
    assert not Path(run_folder.root).exists()


def test_a_process_that_stands_elsewhere_is_left_alone() -> None:
    run_folder = RunFolder()
    elsewhere = Path(f"{run_folder.root}-of-somebody-else")
    elsewhere.mkdir()
    command = [sys.executable, "-S", "-c", leaving.SLEEP]
    with subprocess.Popen(command, cwd=elsewhere, env={"HOME": str(elsewhere)}) as process:
        run_folder.clear(orderly=False)
        assert process.poll() is None
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="the rest of what is told of a process is there at once")
def test_a_process_that_was_started_a_moment_ago_is_known_by_its_home_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system writes its environment when whoever has started it goes on already, and may be dead again."""
    run_folder, looks = RunFolder(), iter(range(3))
    command = [sys.executable, "-S", "-c", leaving.SLEEP]
    process = subprocess.Popen(command, cwd="/", env={"HOME": run_folder.root})
    cmdline, environ = psutil.Process.cmdline, psutil.Process.environ

    def written(one: psutil.Process) -> bool:
        return one.pid != process.pid or next(looks, None) is None

    monkeypatch.setattr(psutil.Process, "environ", lambda one: environ(one) if written(one) else {})
    monkeypatch.setattr(psutil.Process, "cmdline", lambda one: cmdline(one) if one.pid != process.pid else [])
    try:
        run_folder.clear(orderly=False)
        process.wait(30)  # half of the time that it sleeps
    finally:
        process.kill()
