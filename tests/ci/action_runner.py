"""Runs the shell steps of `action.yml` as a GitHub runner does: in order, with inputs, conditions and outputs.

Steps that use another action are left out. An expression may have names, texts, `always()`, `==`, `!=`, `&&` and `||`;
anything else is an error of the test.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

_TOKEN = re.compile(r"\s*('[^']*'|always\(\)|==|!=|&&|\|\||[a-z_][\w.-]*)")
_OPERATORS = {"==": "==", "!=": "!=", "&&": "and", "||": "or", "always()": "True"}


@dataclass
class ActionRun:
    """What a run of the action leaves. `scripts` has the steps that ran, by their order in the file."""

    exit_code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""
    steps: list[int] = field(default_factory=list)


def run_action(
    folder: Path,
    *,
    inputs: Mapping[str, str],
    path: str,
    github: Mapping[str, str] | None = None,
    action_path: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> ActionRun:
    """Run the action in the workspace `folder` with this PATH. `github` has values of that context."""
    unknown = inputs.keys() - ACTION["inputs"].keys()
    assert not unknown, f"the action has no input {sorted(unknown)}"
    names = {f"inputs.{name}": str(one["default"]) for name, one in ACTION["inputs"].items()}
    names |= {f"github.{name}": value for name, value in (github or {}).items()}
    names |= {f"inputs.{name}": value for name, value in inputs.items()}
    names["inputs.github-token"] = inputs.get("github-token", "")
    run = ActionRun()
    files = {name: folder / f".{name.lower()}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
    for number, step in enumerate(ACTION["runs"]["steps"]):
        condition = str(step.get("if", "success"))
        if (run.exit_code and "always()" not in condition) or not _holds(condition, names):
            continue
        if "run" not in step:
            continue
        files["GITHUB_OUTPUT"].write_text("", "utf-8")
        variables = {key: _filled(str(value), names) for key, value in step.get("env", {}).items()}
        fixed = {name: str(file) for name, file in files.items()}
        fixed |= {"PATH": path, "HOME": str(folder), "GITHUB_ACTION_PATH": str(action_path), "GITHUB_ACTIONS": "true"}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder / _filled(step.get("working-directory", "."), names),
            env={**fixed, **(env or {}), **variables},
            text=True,
            capture_output=True,
            check=False,
        )
        run.steps.append(number)
        run.log += done.stdout + done.stderr
        run.exit_code = run.exit_code or done.returncode
        for line in files["GITHUB_OUTPUT"].read_text("utf-8").splitlines():
            key, _, value = line.partition("=")
            names[f"steps.{step['id']}.outputs.{key}"] = value
    run.outputs = {name: _filled(one["value"], names) for name, one in ACTION["outputs"].items()}
    if files["GITHUB_STEP_SUMMARY"].exists():
        run.summary = files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
    return run


def _filled(text: str, names: Mapping[str, str]) -> str:
    """A text with each `${{ name }}` replaced. A name without a value is empty, as GitHub has it."""
    return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda found: names.get(found[1], ""), text)


def _holds(condition: str, names: Mapping[str, str]) -> bool:
    """The value of a condition."""
    position, words = 0, []
    while position < len(condition.rstrip()):
        found = _TOKEN.match(condition, position)
        assert found, f"the test cannot read the condition {condition!r} at {position}"
        token = found[1]
        words.append(_OPERATORS.get(token) or (token if token.startswith("'") else _literal(token, names)))
        position = found.end()
    return bool(eval(" ".join(words), {"__builtins__": {}}))


def _literal(name: str, names: Mapping[str, str]) -> str:
    return "True" if name == "success" else repr(names.get(name, ""))
