"""The action and the examples for CI servers: they parse, and every command in them exists, with those options."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
import yaml

from turnproof.cli.app import app
from turnproof.config import GateMode

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
FILES = ("action.yml", "docs/ci/github.yml", "docs/ci/gitlab.yml")


def scripts(file: str) -> list[str]:
    """Every script of a file."""
    return list(_scripts(yaml.safe_load((ROOT / file).read_text("utf-8"))))


def _scripts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("run", "script", "before_script"):
                yield from [item] if isinstance(item, str) else item
            else:
                yield from _scripts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scripts(item)


def options_of(script: str) -> Iterator[tuple[str, list[str]]]:
    """Each turnproof command of a script, and the options that it is given."""
    for line in script.splitlines():
        if (found := re.search(r"(?:^|\s)turnproof ([a-z-]+)(.*)", line)) and "pip install" not in line:
            words = shlex.split(found[2].split("||")[0])
            yield found[1], [word for word in words if word.startswith("-")]


@pytest.mark.parametrize("file", FILES)
def test_every_command_in_it_exists_with_those_options(file: str) -> None:
    commands = [command for script in scripts(file) for command in options_of(script)]
    assert {name for name, _ in commands} == {"gate", "certify"}
    for name, options in commands:
        known = {word for parameter in COMMANDS[name].params for word in parameter.opts}
        assert set(options) <= known


@pytest.mark.parametrize("file", FILES)
def test_its_scripts_are_shell(file: str) -> None:
    for script in scripts(file):
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def test_the_options_that_the_action_puts_together_exist() -> None:
    (script,) = [script for script in scripts("action.yml") if "turnproof gate" in script]
    given = set(re.findall(r"--[a-z-]+", script))
    known = {name: {word for one in COMMANDS[name].params for word in one.opts} for name in ("gate", "certify")}
    assert given <= known["gate"]
    assert given - {"--phase", "--mode"} <= known["certify"]


def test_no_input_of_the_action_becomes_a_part_of_a_script() -> None:
    assert not any("${{" in script for script in scripts("action.yml"))


def test_the_action_uses_the_inputs_that_it_has_and_has_those_that_it_uses() -> None:
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])
    for one in ACTION["inputs"].values():
        assert one["description"]
        assert isinstance(one["default"], str)


def test_the_example_gives_the_action_what_it_takes() -> None:
    jobs = yaml.safe_load((ROOT / "docs/ci/github.yml").read_text("utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"] if step.get("uses", "").endswith("/turnproof@main")]
    assert steps
    for step in steps:
        assert set(step["with"]) <= set(ACTION["inputs"])
        assert step["with"]["mode"] in get_args(GateMode)


def run_action(folder: Path, **inputs: str) -> tuple[int, list[str], str]:
    """The script of the action with a turnproof that only says what it was given."""
    (script,) = [script for script in scripts("action.yml") if "turnproof gate" in script]
    said = 'turnproof() { printf "%s\\n" "$@" > "$OUT"; return "${CODE:-0}"; }\n'
    out, output = folder / "said", folder / "output"
    blank = dict.fromkeys(("SUBJECTS", "PHASE", "MODE", "DEPTH"), "")
    env = {"PATH": "/usr/bin:/bin", "OUT": str(out), "GITHUB_OUTPUT": str(output), "REPORTS": "r", **blank, **inputs}
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", said + script], cwd=folder, env=env, check=False)
    return done.returncode, out.read_text().splitlines() if out.exists() else [], output.read_text()


def test_the_action_runs_the_command_and_passes_on_its_exit_code(tmp_path: Path) -> None:
    inputs = {"COMMAND": "gate", "SUBJECTS": "one two", "PHASE": "4", "MODE": "shadow", "CODE": "1"}
    code, words, output = run_action(tmp_path, **inputs)
    assert code == 1
    assert words == ["gate", "one", "two", "--annotations", "--out", "r", "--phase", "4", "--mode", "shadow"]
    assert f"exit-code=1\nreports={tmp_path}/r\n" == output


def test_what_stands_in_an_input_is_never_run(tmp_path: Path) -> None:
    code, words, _ = run_action(tmp_path, COMMAND="certify", SUBJECTS="$(touch hacked) a;touch hacked")
    assert code == 0
    assert words[:4] == ["certify", "$(touch", "hacked)", "a;touch"]
    assert not (tmp_path / "hacked").exists()


def test_an_unknown_command_is_a_mistake(tmp_path: Path) -> None:
    assert run_action(tmp_path, COMMAND="gates")[:2] == (2, [])
