"""A machine without processor time is reported as that, and no adapter is accused of it.

Nothing here burns a processor: what the system counts is put in its place, so that no test depends on the machine.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from turnproof.run.driver import Runner, RunSpec, starvation
from turnproof.run.driver.process_group import descendants
from turnproof.run.driver.starvation import Patience, own_wait
from turnproof.run.driver.worker_pool import _serving_threads
from turnproof.run.transcript import RunEnded, RunKey
from turnproof.wire.emulator import EmulatorServer

from .talks import scenario

HERE = str(Path(__file__).parent)


class Waiting:
    """Waiting times that grow by so many seconds a second, until they stop."""

    def __init__(self, share: float, until: float = 1e9) -> None:
        self._share, self._until, self._began = share, until, time.monotonic()

    def __call__(self, process: int, serving: Collection[int]) -> dict[str, float]:
        return {"1": self._share * min(time.monotonic() - self._began, self._until), "2": 0.0}


@pytest.fixture
def path() -> Iterator[None]:
    sys.path.insert(0, HERE)
    yield
    sys.path.remove(HERE)


def shorten(monkeypatch: pytest.MonkeyPatch, waiting: Waiting) -> None:
    """Have processes wait like this, and the limits of patience short."""
    monkeypatch.setattr(starvation, "_waits", waiting)
    monkeypatch.setattr(starvation, "SOON", 0.4)
    monkeypatch.setattr("turnproof.run.driver.worker_pool.MOST", 3)
    monkeypatch.setattr("turnproof.run.driver.worker_pool.OPEN_LIMIT", 0.5)


def hanging(notices: list[str]) -> RunEnded:
    """How a run of an adapter that never returns ends, with a limit of half a second."""
    script = scenario("answer")
    with Runner(jobs=1, time_limit=0.5, on_starved=notices.append) as runner:
        runner.run(RunSpec("toys:PLAIN", script, RunKey(script.name, "stateless", "batch")))  # it is imported then
        return runner.run(RunSpec("toys:HANGS", script, RunKey(script.name, "stateless", "batch"))).end


@pytest.mark.usefixtures("path")
def test_a_run_that_waits_for_a_processor_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    notices: list[str] = []
    shorten(monkeypatch, Waiting(share=0.99))
    end = hanging(notices)
    assert end.how == "harness-fault"
    assert end.detail.startswith("this machine is starved: for ")
    assert len(notices) == 1
    assert "waited for a processor" in notices[0]


@pytest.mark.usefixtures("path")
def test_the_run_behind_one_that_was_given_up_waits_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of a hundred runs would take hours on such a machine, without a word."""
    shorten(monkeypatch, Waiting(share=0.99))
    monkeypatch.setattr("turnproof.run.driver.worker_pool.MOST", 8)
    script = scenario("answer")
    silences: list[float] = []

    class Noting(Patience):
        def look(self) -> None:
            super().look()
            silences.append(self.silence)

    monkeypatch.setattr("turnproof.run.driver.worker_pool.Patience", Noting)
    waited = []
    with Runner(jobs=1, time_limit=0.5) as runner:
        for subject in ("toys:PLAIN", "toys:HANGS", "toys:HANGS", "toys:PLAIN"):
            silences.clear()
            end = runner.run(RunSpec(subject, script, RunKey(script.name, "stateless", "batch"))).end
            waited.append((end.how, sum(silence >= 2 * 0.5 for silence in silences)))
    assert [how for how, _ in waited] == ["completed", "harness-fault", "harness-fault", "completed"]
    (_, first), (_, second) = waited[1:3]
    assert first > 1 >= second  # it was looked at behind twice the limit, and then not again


@pytest.mark.usefixtures("path")
def test_a_machine_that_is_still_starved_is_reported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    notices: list[str] = []
    shorten(monkeypatch, Waiting(share=0.99))
    monkeypatch.setattr("turnproof.run.driver.runner._SAY_AGAIN", 0.3)
    hanging(notices)
    assert len(notices) > 1


@pytest.mark.usefixtures("path")
def test_a_run_that_had_a_processor_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    notices: list[str] = []
    shorten(monkeypatch, Waiting(share=0.2))
    assert hanging(notices).how == "hung"
    assert notices == []


@pytest.mark.usefixtures("path")
def test_a_run_that_hangs_after_it_has_waited_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starvation, "_waits", Waiting(share=0.99, until=2.0))
    monkeypatch.setattr("turnproof.run.driver.worker_pool.OPEN_LIMIT", 0.5)
    assert hanging([]).how == "hung"


def test_the_longest_wait_counts_and_threads_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [{"a": 1.0, "gone": 9.0}, {"a": 1.5, "new": 2.0}]
    monkeypatch.setattr(starvation, "_waits", lambda process, serving: found.pop(0))
    patience = Patience(1, already=10.0)
    patience.look()
    assert patience.silence >= 10.0
    assert patience.waited == 2.0


def test_what_programs_wait_one_after_the_other_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an agent that waits for another program, which waits for the server."""
    found = [{"agent": 1.0}, {"agent": 4.0, "program": 0.0}, {"agent": 4.0, "program": 3.0}, {"agent": 4.0}, {}]
    monkeypatch.setattr(starvation, "_waits", lambda process, serving: found.pop(0))
    patience = Patience(1, already=10.0)
    waited = []
    for _ in range(4):
        patience.look()
        waited.append(patience.waited)
    assert waited == [3.0, 6.0, 6.0, 6.0]


def test_no_more_is_waited_than_the_silence_has_lasted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [{"a": 0.0, "b": 0.0}, {"a": 0.9, "b": 0.0}, {"a": 0.9, "b": 0.9}]
    monkeypatch.setattr(starvation, "_waits", lambda process, serving: found.pop(0))
    patience = Patience(1, already=1.0)
    patience.look()
    patience.look()
    assert 1.0 <= patience.waited <= patience.silence


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not count waiting times")
def test_the_system_counts_what_a_process_waits() -> None:
    import os

    waits = starvation._waits(os.getpid(), ())
    assert str(os.getpid()) in waits
    assert 0 <= own_wait() < 1e6


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not count waiting times")
def test_what_the_server_waits_counts_for_the_run_that_it_answers() -> None:
    before = set(_serving_threads())  # of servers that other tests share
    with EmulatorServer():
        threads = tuple(set(_serving_threads()) - before)
        assert threads
        assert set(map(str, threads)) <= set(starvation._waits(-1, threads))
    assert set(_serving_threads()).isdisjoint(threads)


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not count waiting times")
def test_the_programs_that_a_run_has_started_wait_with_it_and_what_has_ended_does_not() -> None:
    line = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen([sys.executable, "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        (program,) = descendants(process.pid)
        assert {str(process.pid), str(program)} <= set(starvation._waits(process.pid, ()))
        process.stdin.close()
        process.wait()
        assert starvation._waits(process.pid, ()) == {}
