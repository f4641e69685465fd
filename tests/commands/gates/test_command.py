"""`turnproof gate` as a user runs it: a process of its own, an exit code, and files."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from ..command_line import interrupt, run_turnproof, start_turnproof
from .test_documents import SCHEMA

pytestmark = pytest.mark.long

TESTS = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that nothing above it has settings for."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def gate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_turnproof(folder, "gate", *words, modules=TESTS)


def test_the_first_gate_is_open_for_the_reference_session(project: Path) -> None:
    done = gate(project, "--phase", "1", "--depth", "quick", "--in-process")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("gate of phase 1, session-history: ✓ open\n")
    assert "1/histories-agree" in done.stdout
    assert done.stderr.splitlines()[-3:] == [
        "reports: reports/gate-1.md",
        "the gate of phase 1 is open",
        "exit 0: ok",
    ]
    found = json.loads((project / "reports/gate-1.json").read_text())
    jsonschema.validate(found, SCHEMA)
    assert (found["state"], found["partial"], found["runs"]) == ("open", False, ["gate-1"])
    assert (project / "reports/gate-1.md").read_text().startswith("# Gate of phase 1")
    assert (project / "reports/gate-1/run.ndjson").stat().st_size > 1000


SETTINGS = """
[tool.turnproof.gates]
phase = 1
session = "commands.gates.sessions:DRIFTS"
existing_tests = "sh -c 'echo ran with $TURNPROOF_SESSION_OWNED_HISTORY > own.txt'"
"""


def test_the_settings_say_what_is_asked_and_a_closed_gate_ends_with_1(project: Path) -> None:
    (project / "pyproject.toml").write_text(SETTINGS)
    inside = project / "src"
    inside.mkdir()
    done = gate(inside, "--scenario", "cancel/in_text", "--in-process", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert (found["phase"], found["state"], found["subjects"][0]["session"]) == (1, "closed", "drifts")
    assert (project / "own.txt").read_text() == "ran with 0\n"
    assert done.stderr.startswith("existing tests with TURNPROOF_SESSION_OWNED_HISTORY=0: sh -c 'echo ran with")
    assert done.stderr.splitlines()[-2:] == ["the gate of phase 1 is closed", "exit 1: violations"]


def test_a_gate_that_only_reports_ends_with_0_and_says_why(project: Path) -> None:
    (project / "pyproject.toml").write_text(SETTINGS)
    done = gate(project, "--scenario", "cancel/in_text", "--in-process", "--mode", "report", "--out", "elsewhere")
    assert done.returncode == 0
    assert "gate of phase 1, session-history: ✗ closed" in done.stdout
    assert "the gate of phase 1 is closed; mode report: enforced, the exit code would be 1" in done.stderr
    assert json.loads((project / "elsewhere/gate-1.json").read_text())["exit_code"] == 0


def test_an_undecided_gate_ends_with_3(project: Path) -> None:
    done = gate(project, "commands.gates.sessions:MUTE", "--phase", "1", "--scenario", "tools/one", "--in-process")
    assert done.returncode == 3
    assert "? undecided 1/histories-agree" in done.stdout


def test_the_command_that_a_closed_criterion_names_shows_it_again(project: Path) -> None:
    gate(project, "commands.gates.sessions:DRIFTS", "--phase", "1", "--scenario", "cancel/in_*", "--in-process")
    (subject,) = json.loads((project / "reports/gate-1.json").read_text())["subjects"]
    found = next(one for one in subject["criteria"] if one["id"] == "1/histories-agree")
    words = found["reproduce"].split()
    assert words[:2] == ["turnproof", "gate"]
    again = gate(project, *words[2:])
    assert again.returncode == 1
    assert found["message"].partition(" (and ")[0] in " ".join(again.stdout.split())


@pytest.mark.parametrize(
    ("settings", "words", "says"),
    [
        ("", (), "error: which phase? Give --phase N, or phase = N in [tool.turnproof.gates]"),
        ("", ("--phase", "9"), "error: there is no phase 9; those with a gate are 1, 2, 3, 4, 5"),
        ("", ("--phase", "1", "--mode", "loud"), "Invalid value for '--mode'"),
        ("", ("--phase", "two"), "'--phase': Input should be a valid integer"),
        ("", ("--phase", "1", "nobody"), "error: unknown adapter, session or agent 'nobody'"),
        ("", ("--phase", "1", "--scenario", "nowhere"), "error: no scenario matches 'nowhere'"),
        (
            "existing_test = 'x'",
            ("--phase", "1"),
            "$.gates: unknown key 'existing_test'; did you mean 'existing_tests'?",
        ),
        ("session = 'refrence'", ("--phase", "1"), "error: gates: session = 'refrence': unknown session 'refrence'"),
        ("existing_tests = 'no-such-program'", ("--phase", "1"), "'no-such-program' cannot be started in"),
        ("flag_on = '0'", ("--phase", "2"), "flag_off='0' and flag_on='0' have to be two different values"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(project: Path, settings: str, words: tuple[str, ...], says: str) -> None:
    (project / "turnproof.toml").write_text(f"[gates]\n{settings}\n")
    done = gate(project, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.splitlines()[-1] == "exit 2: usage, environment or harness fault"
    assert len(done.stderr.splitlines()) <= 3
    assert not (project / "reports").exists()


def test_an_interrupt_leaves_the_runs_and_no_verdict(project: Path) -> None:
    process = start_turnproof(project, "gate", "--phase", "1", "-j", "1", modules=TESTS)
    runs = project / "reports/gate-1/run.ndjson"
    while not (runs.exists() and runs.read_text().count('"line":"transcript"') > 2):
        with contextlib.suppress(subprocess.TimeoutExpired):
            pytest.fail(f"it ended by itself with {process.wait(0.05)}")
    interrupt(process)
    assert '"line":"footer"' not in runs.read_text()
    assert not (project / "reports/gate-1.json").exists()
