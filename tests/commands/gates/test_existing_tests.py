"""The project's own tests as a command: real processes, since processes are what is promised."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from turnproof.commands.gates.existing_tests import SHOWN_LINES, CommandRun, run_command
from turnproof.errors import UsageError


def run(folder: Path, script: str, seconds: float = 30.0, **environment: str) -> CommandRun:
    (folder / "script.py").write_text(script)
    return run_command(f"'{sys.executable}' script.py --all", folder, environment, seconds)


def test_a_command_runs_in_the_folder_with_the_variables_set(tmp_path: Path) -> None:
    script = "import os, sys; print(os.getcwd(), os.environ['MY_FLAG'], sys.argv[1], sys.stdin.read())"
    done = run(tmp_path, script, MY_FLAG="1")
    assert done.passed
    assert done.output.split() == [str(tmp_path), "1", "--all"]
    assert done.command == f"MY_FLAG=1 {sys.executable} script.py --all"


def test_a_failure_keeps_its_exit_status_and_its_last_lines(tmp_path: Path) -> None:
    script = (
        "import sys\nfor n in range(100): print('line', n, flush=True)\nprint('at last', file=sys.stderr)\nsys.exit(5)"
    )
    done = run(tmp_path, script)
    assert (done.passed, done.code) == (False, 5)
    lines = done.output.splitlines()
    assert len(lines) == SHOWN_LINES
    assert lines[-2:] == ["line 99", "at last"]


def test_of_endless_output_only_the_end_is_read(tmp_path: Path) -> None:
    done = run(tmp_path, "print('x' * 1_000_000); print('the end')")
    assert done.output.endswith("the end")
    assert len(done.output) < 100_000


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys; sys.stdout.buffer.write(b'\\xff ok')").output == "\ufffd ok"


def test_a_command_that_a_signal_ends_has_not_passed(tmp_path: Path) -> None:
    done = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert (done.passed, done.code) == (False, -15)


FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("waiting", flush=True)
open("pids.part", "w").write(f"{os.getpid()} {child.pid}")
os.rename("pids.part", "pids")
time.sleep(600)
"""


Wait = Callable[[subprocess.Popen[bytes], float | None], int]


def waits_until_it_sleeps(monkeypatch: pytest.MonkeyPatch, folder: Path, then: Wait) -> None:
    """FAMILY is waited for until it sleeps, however long it takes to come there, and only `then` as it is told."""
    wait: Wait = subprocess.Popen.wait

    def patient(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if timeout is None:
            return wait(process, None)
        while not (folder / "pids").exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended by itself with {wait(process, 0.05)}")
        return then(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", patient)


def has_ended(pid: int) -> bool:
    """Whether a process has ended; one that was killed is given the time to."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 60.0)[0])
    finally:
        os.close(process)


def test_a_command_whose_time_is_up_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits_until_it_sleeps(monkeypatch, tmp_path, subprocess.Popen.wait)
    done = run(tmp_path, FAMILY, seconds=0.5)
    assert done.code is None
    assert not done.passed
    assert (done.code, done.seconds) == (None, 0.5)
    assert done.output == "waiting"
    parent, child = map(int, (tmp_path / "pids").read_text().split())
    assert has_ended(parent)
    assert has_ended(child)


def test_an_interrupt_ends_the_command_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    waits_until_it_sleeps(monkeypatch, tmp_path, interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, FAMILY)
    assert has_ended(int((tmp_path / "pids").read_text().split()[0]))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            "no-such-program --all",
            "cannot be started in {folder}: No such file or directory; it is run without a shell",
        ),
        ("./script.sh", "cannot be started in {folder}: Permission denied"),
        ("pytest 'tests", "cannot be split into words: No closing quotation"),
        ("  ", "names no command"),
    ],
)
def test_a_command_that_cannot_be_started_is_a_mistake_in_the_settings(tmp_path: Path, command: str, says: str) -> None:
    (tmp_path / "script.sh").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError) as failure:
        run_command(command, tmp_path, {}, 10.0)
    assert str(failure.value).startswith(f"gates: existing_tests = {command!r} ")
    assert says.format(folder=tmp_path) in str(failure.value)


def test_the_environment_of_this_process_stays_as_it_is(tmp_path: Path) -> None:
    assert run(tmp_path, "pass", TURNPROOF_TEST_ONLY="1").passed
    assert "TURNPROOF_TEST_ONLY" not in os.environ
