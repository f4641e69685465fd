"""The action and the examples for CI servers: they parse, and every command in them exists, with those options."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
import yaml
from report.runs import result, write_run
from report.verdicts import BAD, OK

from turnproof._base.settings import GateMode
from turnproof.commands.cli.app import app
from turnproof.report.comment import MARKER

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
COMMANDS_IN = {
    "action.yml": {"gate", "certify", "diff"},
    "docs/ci/github.yml": {"gate"},  # it certifies by the action
    "docs/ci/github-live.yml": {"certify"},
    "docs/ci/gitlab.yml": {"gate", "certify"},
}
FILES = tuple(COMMANDS_IN)


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
    assert {name for name, _ in commands} == COMMANDS_IN[file]
    for name, options in commands:
        known = {word for parameter in COMMANDS[name].params for word in parameter.opts}
        assert set(options) <= known


@pytest.mark.parametrize("file", FILES)
def test_its_scripts_are_shell(file: str) -> None:
    for script in scripts(file):
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_key_is_given_to_a_job_on_a_schedule_alone() -> None:
    """A pull request may come from anybody, and its code runs in the jobs that it starts."""
    live = yaml.safe_load((ROOT / "docs/ci/github-live.yml").read_text("utf-8"))
    assert set(live[True]) == {"schedule", "workflow_dispatch"}  # YAML 1.1 reads `on` as true
    assert "secrets." not in (ROOT / "docs/ci/github.yml").read_text("utf-8")
    gitlab = yaml.safe_load((ROOT / "docs/ci/gitlab.yml").read_text("utf-8"))
    assert gitlab["live"]["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "schedule"'}]
    for name in ("certify", "gate", "next-gate"):
        assert gitlab[name]["rules"] == [{"if": '$CI_PIPELINE_SOURCE != "schedule"'}]


@pytest.mark.parametrize("file", ["docs/ci/github-live.yml", ".github/workflows/live.yml"])
def test_the_scheduled_jobs_run_sessions_that_nox_has(file: str) -> None:
    jobs = yaml.safe_load((ROOT / file).read_text("utf-8"))["jobs"]
    (script,) = [one for one in scripts(file) if "nox -s" in one]
    sessions = jobs["nox"]["strategy"]["matrix"]["session"] if "$SESSION" in script else [script.split("nox -s ")[1]]
    functions = ast.parse((ROOT / "noxfile.py").read_text("utf-8")).body
    assert set(sessions) <= {one.name for one in functions if isinstance(one, ast.FunctionDef) and one.decorator_list}


ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def test_the_options_that_the_action_puts_together_exist() -> None:
    (script,) = [script for script in scripts("action.yml") if "turnproof gate" in script]
    options = set(re.findall(r"--[a-z-]+", script))
    known = {name: {word for one in COMMANDS[name].params for word in one.opts} for name in ("gate", "certify")}
    assert options <= known["gate"]
    assert options - {"--phase", "--mode"} <= known["certify"]


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
        assert step["with"].get("mode", "report") in get_args(GateMode)
        assert step["with"].get("comment", "auto") in ("auto", "off")


def run_action(folder: Path, **inputs: str) -> tuple[int, list[str], str]:
    """The script of the action with a turnproof that only says what it was given."""
    (script,) = [script for script in scripts("action.yml") if "turnproof gate" in script]
    stub = 'turnproof() { printf "%s\\n" "$@" > "$OUT"; return "${CODE:-0}"; }\n'
    out, output = folder / "said", folder / "output"
    blank = dict.fromkeys(("SUBJECTS", "PHASE", "MODE", "DEPTH"), "")
    env = {"PATH": "/usr/bin:/bin", "OUT": str(out), "GITHUB_OUTPUT": str(output), "REPORTS": "r", **blank, **inputs}
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", stub + script], cwd=folder, env=env, check=False)
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


# -- the baseline, and the comment -------------------------------------------------------------------------------

FAKE_GH = r"""#!/bin/bash
# Notes its arguments, a line each, and answers as GitHub would; refuses to write where it may not.
printf '%s\n' "$@" >> "$GH_LOG"; echo -- >> "$GH_LOG"
case "$*" in
  *--method*)
    if [ -n "$READ_ONLY" ]; then
      printf 'gh: Resource not accessible by integration\n::error::(HTTP 403)\n' >&2
      exit 1
    fi ;;
  *--paginate*)
    [ -z "$UNREADABLE" ] || { echo 'gh: Not Found (HTTP 404)' >&2; exit 1; }
    filter="${@: -1}"
    jq -r "$filter" "$COMMENTS" ;;
esac
"""


def step(name: str) -> str:
    """The script of the action that has these words."""
    (script,) = [script for script in scripts("action.yml") if name in script]
    return script


def run_step(script: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    binaries = folder / "bin"
    path = f"{binaries}:{Path(sys.executable).parent}:/usr/bin:/bin"
    words = ["bash", "-eo", "pipefail", "-c", script]
    environment = {"PATH": path, "HOME": str(folder), **env}
    return subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True, check=False)


def compare(folder: Path, baseline: str, *, command: str = "certify") -> tuple[str, str, str]:
    """The step that compares: its output, what it passes on, and the summary."""
    output, summary = folder / "output", folder / "summary"
    done = run_step(
        step("turnproof diff"),
        folder,
        COMMAND=command,
        BASELINE=baseline,
        REPORTS=str(folder / "after"),
        GITHUB_OUTPUT=str(output),
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.returncode == 0, done.stderr
    passed_on, shown = (file.read_text("utf-8") if file.exists() else "" for file in (output, summary))
    return done.stdout, passed_on, shown


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a run before and a run after that violates something new."""
    for name, verdict in (("before", OK), ("after", BAD)):
        write_run(tmp_path / name / "run.ndjson", [result("core/order-kept", "legacy", verdict)])
    return tmp_path


def test_what_is_new_is_told_and_fails_nothing(runs: Path) -> None:
    stdout, output, summary = compare(runs, "before")
    assert "✗ new (1)" in stdout
    assert output == f"folder={runs}/after/diff\n"
    assert "## ✗ new (1)" in summary
    assert (runs / "after/diff/comment.md").read_text("utf-8").startswith(MARKER)


@pytest.mark.parametrize(
    ("baseline", "command", "says"),
    [
        ("main", "certify", "::notice title=turnproof::there is no baseline yet"),
        ("before", "gate", "::notice title=turnproof::a baseline is compared with a certification, and this is a gate"),
        (".", "certify", "::warning title=turnproof::the run cannot be compared with the baseline"),
    ],
)
def test_what_cannot_be_compared_is_told_and_fails_nothing(runs: Path, baseline: str, command: str, says: str) -> None:
    stdout, output, summary = compare(runs, baseline, command=command)
    assert says in stdout
    assert (output, summary) == ("", "")


def comment(folder: Path, comments: list[dict[str, Any]] | None = None, **env: str) -> tuple[str, list[list[str]]]:
    """The step that comments, with a gh that only answers: what it says, and the arguments of each call."""
    gh, body = folder / "bin" / "gh", folder / "comment.md"
    gh.parent.mkdir()
    gh.write_text(FAKE_GH, "utf-8")
    gh.chmod(0o755)
    body.write_text(f"{MARKER}\n\ntext\n", "utf-8")
    (folder / "comments.json").write_text(json.dumps(comments or []), "utf-8")
    defaults = {
        "GH_TOKEN": "a-token",
        "BODY": str(body),
        "REPOSITORY": "them/theirs",
        "PULL_REQUEST": "7",
        "GH_LOG": str(folder / "log"),
        "COMMENTS": str(folder / "comments.json"),
    }
    done = run_step(step("gh api"), folder, **defaults | env)
    assert done.returncode == 0, done.stderr
    log = (folder / "log").read_text("utf-8") if (folder / "log").exists() else ""
    return done.stdout, [call.splitlines() for call in log.split("--\n") if call]


def test_the_first_comment_is_created(tmp_path: Path) -> None:
    others = [{"id": 1, "body": f"as it said: {MARKER}"}, {"id": 2, "body": "nice"}]
    stdout, (listing, writing) = comment(tmp_path, others)
    assert stdout == ""
    assert "repos/them/theirs/issues/7/comments?per_page=100" in listing
    assert writing == [
        "api", "--method", "POST", "repos/them/theirs/issues/7/comments", "--field", f"body=@{tmp_path}/comment.md"
    ]  # fmt: skip


def test_the_comment_from_before_is_updated(tmp_path: Path) -> None:
    before = [{"id": 1, "body": "nice"}, {"id": 22, "body": f"{MARKER}\nold"}, {"id": 23, "body": f"{MARKER}\nolder"}]
    _, (_, writing) = comment(tmp_path, before)
    assert writing[1:4] == ["--method", "PATCH", "repos/them/theirs/issues/comments/22"]


@pytest.mark.parametrize(
    ("env", "says", "calls"),
    [
        ({"READ_ONLY": "1"}, "(gh: Resource not accessible by integration ::error::(HTTP 403) )", 2),
        ({"UNREADABLE": "1"}, "(gh: Not Found (HTTP 404) )", 1),
        ({"GH_TOKEN": ""}, "(there is no token)", 0),
    ],
    ids=["a fork", "not to be seen", "no token"],
)
def test_a_comment_that_may_not_be_written_is_a_notice(
    tmp_path: Path, env: dict[str, str], says: str, calls: int
) -> None:
    stdout, commands = comment(tmp_path, None, **env)
    notice = f"the comment was not written {says}; the summary of the job has the same"
    assert stdout == f"::notice title=turnproof::{notice}\n"
    assert len(commands) == calls


def test_a_push_is_no_pull_request_and_has_no_comment(tmp_path: Path) -> None:
    assert comment(tmp_path, PULL_REQUEST="") == ("", [])


def test_the_token_is_seen_by_the_step_that_comments_alone() -> None:
    steps = ACTION["runs"]["steps"]
    assert [step.get("env", {}).get("GH_TOKEN") for step in steps].count("${{ inputs.github-token }}") == 1
    assert all("gh api" in step["run"] for step in steps if "GH_TOKEN" in step.get("env", {}))
