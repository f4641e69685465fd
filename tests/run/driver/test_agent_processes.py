"""The processes of a run's agent: found wherever they hang, killed, and counted when all should be over.

Real processes: what is found among one's descendants cannot be shown with made-up ones.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from turnproof.run.driver import agent_processes as module
from turnproof.run.driver import process_lifetime
from turnproof.run.driver.agent_processes import Processes
from turnproof.run.driver.agent_sandbox import adopt_orphans

KEY = "canary-key-of-this-test"
SLEEP = "import time; time.sleep(60)"

# Starts a sleeping child of its own, in a session of its own, tells its id and ends, or waits for it, or stays whatever
# becomes of it.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True,
    stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
if sys.argv[1] == "stay":
    time.sleep(60)
if sys.argv[1] == "wait":
    child.wait()
"""

# Tells that it begins, and starts one sleeping child after the other.
BREEDER = """
import os, time
print(os.getpid(), flush=True)
for _ in range(200):
    if not os.fork():
        time.sleep(60)
        os._exit(0)
    time.sleep(0.002)
time.sleep(60)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes, which are over at the end of the test."""
    adopt_orphans()
    before = set(psutil.Process().children(recursive=True))

    def started(program: str, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-S", "-c", program, *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    yield started
    for one in psutil.Process().children(recursive=True):
        if one not in before:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
                one.wait(60)


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.3)


def told_pid(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def until_gone(pid: int) -> None:
    until = time.monotonic() + 60
    with contextlib.suppress(psutil.NoSuchProcess):
        one = psutil.Process(pid)
        while one.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < until, f"{pid} is still running"
            time.sleep(0.01)


def test_what_ran_before_is_not_the_agents(start: Start) -> None:
    start(SLEEP)
    found = Processes()
    assert found.look(KEY) == []
    assert (found.started, found.kill_remaining(KEY)) == (0, ())


def test_all_that_hang_below_are_killed_and_counted(start: Start) -> None:
    found = Processes()
    parent = start(PARENT, "stay")
    child = told_pid(parent)
    assert {one.pid for one in found.look(KEY)} == {parent.pid, child}
    assert found.kill(KEY) == 2
    until_gone(child)
    assert parent.wait(60) == -9
    assert (found.kill_remaining(KEY), found.started) == ((), 2)


def test_none_lives_to_see_anothers_end(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    kill = psutil.Process.kill

    def busy(one: psutil.Process) -> None:
        kill(one)
        until_gone(one.pid)
        time.sleep(0.3)  # the machine has other things to do, and another one could do something about it

    monkeypatch.setattr(psutil.Process, "kill", busy)
    found = Processes()
    parent = start(PARENT, "wait")
    told_pid(parent)
    assert found.kill(KEY) == 2
    assert parent.wait(60) == -9


def test_what_is_started_while_they_are_killed_is_killed_too(start: Start) -> None:
    for _ in range(5):
        found = Processes()
        parent = start(BREEDER)
        told_pid(parent)
        found.kill(KEY)
        assert (parent.wait(60), found.kill_remaining(KEY)) == (-9, ())


def test_how_a_killed_child_ended_is_left_to_whoever_started_it(start: Start) -> None:
    found = Processes()
    process = start(SLEEP)
    assert found.kill(KEY) == 1
    assert process.returncode is None
    assert process.wait(60) == -9


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux alone")
def test_an_orphan_is_found_named_and_ended(start: Start) -> None:
    found = Processes()
    parent = start(PARENT, "end")
    child = told_pid(parent)
    name = psutil.Process(child).name()
    assert parent.wait(60) == 0
    assert found.kill_remaining(KEY) == (name,)
    until_gone(child)


def test_those_that_have_ended_by_themselves_are_not_left(start: Start) -> None:
    found = Processes()
    process = start("pass")
    found.look(KEY)
    process.wait(60)
    assert found.kill_remaining(KEY) == ()


def test_a_key_in_a_command_line_is_noticed_also_when_the_process_is_gone(start: Start) -> None:
    found = Processes()
    process = start(SLEEP, f"--key={KEY}")
    name = psutil.Process(process.pid).name()
    found.look(KEY)
    found.kill(KEY)
    assert found.exposed == (name,)


def test_a_key_in_a_command_line_that_is_still_to_be_written_is_noticed(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, real_name, looks = psutil.Process.cmdline, psutil.Process.name, iter(range(50))
    there: list[bool] = []

    def cmdline(one: psutil.Process) -> list[str]:
        if next(looks, None) is not None:
            return []
        there.append(True)
        return real(one)

    monkeypatch.setattr(psutil.Process, "cmdline", cmdline)
    monkeypatch.setattr(psutil.Process, "name", lambda one: real_name(one) if there else "whoever has started it")
    found = Processes()
    process = start(SLEEP, f"--key={KEY}")
    found.look(KEY)
    assert found.exposed == (psutil.Process(process.pid).name(),)
    assert there


def test_a_process_that_never_shows_a_command_line_is_not_waited_for_without_end(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[psutil.Process] = []

    def cmdline(process: psutil.Process) -> list[str]:
        looks.append(process)
        return []

    monkeypatch.setattr(process_lifetime, "PATIENCE", 0.05)
    monkeypatch.setattr(psutil.Process, "cmdline", cmdline)
    found = Processes()
    process = start(SLEEP, f"--key={KEY}")
    assert [one.pid for one in found.look(KEY)] == [process.pid]
    looks.clear()
    assert [one.pid for one in found.look(KEY)] == [process.pid]
    assert len(looks) == 1, "it is not waited for again"
    assert found.exposed == ()


def test_a_command_line_without_the_key_exposes_nobody(start: Start) -> None:
    found = Processes()
    start(SLEEP, "--key=another")
    assert len(found.look(KEY)) == 1
    assert (found.exposed, found.started) == ((), 1)
