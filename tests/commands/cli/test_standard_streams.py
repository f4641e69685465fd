"""What becomes of a command whose output cannot be written. Real processes: descriptors and codes are theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pytest
from report.runs import write_run

from turnproof.commands.cli import main

pytestmark = pytest.mark.long

MAIN = [sys.executable, "-c", "import sys; from turnproof.commands.cli import main; sys.exit(main())"]


@dataclass(frozen=True)
class Command:
    """A command line, and whether it has so much to tell on stderr that a reader is missed there, too."""

    words: str
    talks: bool = False

    @property
    def id(self) -> str:
        return self.words or "no words"


COMMANDS = [
    Command(""),
    Command("--version"),
    Command("certify --help"),
    Command("list dialects"),
    Command("list requirements --json"),
    Command("explain core/turns-come-to-an-end"),
    Command("explain core/turns-come-to-an-end --json"),
    Command("report", talks=True),
    Command("report --json", talks=True),
    Command("diff reports reports", talks=True),
    Command("--show-completion bash"),
]


@pytest.fixture(autouse=True)
def named_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell is the one that the words name, whichever one the tests were started from."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run is, with its reports."""
    found = tmp_path_factory.mktemp("streams")
    write_run(found / "reports" / "run.ndjson")
    assert main(["report", str(found / "reports")]) == 0
    return found


def without_reader() -> int:
    """The end of a pipe that nobody reads."""
    reads, writes = os.pipe()
    os.close(reads)
    return writes


@pytest.mark.parametrize("command", COMMANDS, ids=attrgetter("id"))
def test_stdout_without_a_reader_ends_a_command_quietly_with_141(folder: Path, command: Command) -> None:
    done = subprocess.run(
        [*MAIN, *command.words.split()],
        cwd=folder,
        stdout=without_reader(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 141, done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("reports: ")] == []


@pytest.mark.parametrize("command", [*(one for one in COMMANDS if one.talks), Command("certfy")], ids=attrgetter("id"))
def test_stderr_without_a_reader_ends_a_command_with_141(folder: Path, command: Command) -> None:
    done = subprocess.run(
        [*MAIN, *command.words.split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=without_reader(),
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 141


def test_a_reader_that_has_all_that_it_wants_costs_nothing(folder: Path) -> None:
    """`turnproof list dialects | head -1`: the whole list fits into the pipe before head closes it."""
    script = f"{sys.executable} -m turnproof list dialects | cat | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


WORDS = {1: "violations", 2: "usage, environment or harness fault"}


@pytest.mark.parametrize(
    ("closed", "talk"), [(">&-", True), ("2>&-", False), (">&- 2>&-", False), ("<&- >&- 2>&-", False)]
)
@pytest.mark.parametrize(("words", "code"), [("verify reports", 1), ("certfy", 2)])
def test_a_closed_stream_leads_nowhere_and_changes_no_exit_code(
    folder: Path, closed: str, talk: bool, words: str, code: int
) -> None:
    script = f"{sys.executable} -m turnproof {words} {closed}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "exit" not in done.stdout  # what nobody can hear is not told to those who read the data
    assert done.stderr.splitlines()[-1:] == ([f"exit {code}: {WORDS[code]}"] if talk else [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", ["list dialects", "list dialects --json", "--help"])
def test_a_full_disc_is_a_fault_told_in_one_line(folder: Path, words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*MAIN, *words.split()],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: cannot write the output: No space left on device",
        "exit 2: usage, environment or harness fault",
    ]


def test_a_broken_pipe_of_somebody_else_is_a_fault(folder: Path) -> None:
    """An engine's own pipe or socket says nothing about who reads us."""
    script = (
        "import sys; from turnproof.commands.cli import main\n"
        "def broken(): raise BrokenPipeError(32, 'Broken pipe')\n"
        "import turnproof.dialects; turnproof.dialects.dialect_names = broken\n"
        "sys.exit(main(['list', 'dialects']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: turnproof failed: BrokenPipeError")
