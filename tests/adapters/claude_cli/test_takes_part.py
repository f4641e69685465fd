"""The program as a provider takes part wherever the installed adapters do: by its stand-in, where it is not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from turnproof_adapters.claude_cli.binding import BINDING as ADAPTER

from .bound import BINDING
from .kit import PROGRAM

TESTS = Path(__file__).parents[2]
CLAUDE = "adapters.claude_cli.bound:BINDING"
TIMEOUT = 300


def turnproof(*words: str, out: Path) -> subprocess.CompletedProcess[str]:
    """A command, from a folder without settings."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "turnproof", *words],
        cwd=out,
        env={**os.environ, "PYTHONPATH": path, "TURNPROOF_CLAUDE": PROGRAM},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def test_the_binding_of_the_stand_in_is_the_adapters_own_with_another_program() -> None:
    assert BINDING.options["program"] == PROGRAM
    assert replace(BINDING, options=ADAPTER.options) == ADAPTER


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("handoff", CLAUDE, "anthropic", "--after", "2", "--out", "out"), "claude_cli/stateless"),
        (("compare", CLAUDE, "--scenario", "tools/one", "--out", "out"), "2 comparisons: 2 equal"),
        (("mutants", CLAUDE, "--only", "refusal-unknown", "--out", "out"), "1 caught"),
        (("record", CLAUDE, "--only", "tools/one", "--out", "out"), "3 exchanges"),
        (("explore", CLAUDE, "--examples", "3", "--out", "out"), "3 scenarios tried"),
        (("doctor", CLAUDE), "claims of the binding hold"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_takes_it_like_any_other_adapter(words: tuple[str, ...], output: str, tmp_path: Path) -> None:
    done = turnproof(*words, out=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert output in done.stdout


@pytest.mark.long
def test_the_program_is_certified_for_conversations_with_tools(tmp_path: Path) -> None:
    words = ("certify", CLAUDE, "--scenario", "tools/one", "--scenario", "basics/four_turns", "--out", "out")
    turnproof(*words, out=tmp_path)
    (report,) = json.loads((tmp_path / "out/certification.json").read_text())["adapters"].values()
    found = {one["status"] for one in report["requirements"].values()}
    assert found <= {"held", "inconclusive", "not-claimed"}
    assert report["dialect"] == "anthropic-messages@claude-cli"
