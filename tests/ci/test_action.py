"""The steps of the action run one after the other, as on GitHub: what one leaves is what the next one reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from report.runs import result, write_run
from report.verdicts import BAD, OK

from ci.action_runner import ACTION, ROOT, run_action
from turnproof.report.comment import MARKER

SHELL = "/usr/bin:/bin"
INSTALL, CERTIFY, DIFF, COMMENT = (
    number for number, step in enumerate(ACTION["runs"]["steps"]) if step.get("shell") == "bash"
)


def program(folder: Path, name: str, script: str) -> None:
    """Put an executable shell script into `folder/bin`."""
    file = folder / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/bash\n{script}\n", "utf-8")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("inputs", "packages"),
    [
        ({}, [f"{ROOT}[all]"]),
        ({"extras": ""}, [str(ROOT)]),
        ({"install": "-e . my-sdk>=2", "extras": "agents,vcr"}, ["-e", ".", "my-sdk>=2", f"{ROOT}[agents,vcr]"]),
        ({"source": "dist/turnproof-1.0.0-py3-none-any.whl[all]"}, ["dist/turnproof-1.0.0-py3-none-any.whl[all]"]),
        ({"source": "turnproof[all] @ git+https://example.org/t"}, ["turnproof[all] @ git+https://example.org/t"]),
        ({"source": "installed", "install": "-e ."}, ["-e", "."]),
        ({"source": "installed"}, None),
        ({"source": "$(touch hacked)"}, ["$(touch hacked)"]),
    ],
    ids=["checkout", "no extras", "own package", "wheel", "address", "own package alone", "nothing", "no code"],
)
def test_pip_installs_turnproof_from_its_source(
    tmp_path: Path, inputs: dict[str, str], packages: list[str] | None
) -> None:
    program(tmp_path, "python", 'printf "%s\\n" "$@" > pip-arguments')
    program(tmp_path, "turnproof", "exit 0")
    run = run_action(tmp_path, inputs=inputs, path=f"{tmp_path}/bin:{SHELL}")
    assert run.exit_code == 0, run.log
    arguments = tmp_path / "pip-arguments"
    command = arguments.read_text("utf-8").splitlines() if arguments.exists() else None
    assert command == (None if packages is None else ["-m", "pip", "install", *packages])
    assert not (tmp_path / "hacked").exists()


def test_failed_installation_runs_nothing_else(tmp_path: Path) -> None:
    program(tmp_path, "python", "echo 'no such package' >&2; exit 1")
    run = run_action(tmp_path, inputs={"baseline": "main"}, path=f"{tmp_path}/bin:{SHELL}")
    assert (run.exit_code, run.steps) == (1, [INSTALL])
    assert run.outputs == {"exit-code": "", "reports": "", "diff": ""}


CERTIFIED = """
if [ "$1" = certify ]; then
  out=
  while [ "$#" -gt 0 ]; do [ "$1" = --out ] && out="$2"; shift; done
  mkdir -p "$out" && cp after/run.ndjson "$out/run.ndjson"
  exit 1
fi
exec "$TURNPROOF" "$@"
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a run of main and a `turnproof certify` that finds a new violation."""
    for name, verdict in (("main", OK), ("after", BAD)):
        write_run(tmp_path / name / "run.ndjson", [result("core/order-kept", "legacy", verdict)])
    program(tmp_path, "turnproof", CERTIFIED)
    program(tmp_path, "gh", 'printf "%s\\n" "$*" >> gh-calls')
    return tmp_path


def certify(workspace: Path, **inputs: str) -> tuple[int, list[int], dict[str, str], str]:
    binaries = Path(sys.executable).parent
    run = run_action(
        workspace,
        inputs={"command": "certify", "source": "installed", "github-token": "a-token", **inputs},
        path=f"{workspace}/bin:{binaries}:{SHELL}",
        github={"repository": "them/theirs", "event.pull_request.number": "7"},
        env={"TURNPROOF": str(binaries / "turnproof"), "LANG": os.environ.get("LANG", "C.UTF-8")},
    )
    return run.exit_code, run.steps, run.outputs, run.summary


def test_violation_fails_the_job_and_is_compared_and_commented(workspace: Path) -> None:
    code, steps, outputs, summary = certify(workspace, baseline="main")
    assert code == 1
    assert steps == [INSTALL, CERTIFY, DIFF, COMMENT]
    reports = workspace / "turnproof-reports"
    assert outputs == {"exit-code": "1", "reports": str(reports), "diff": f"{reports}/diff"}
    assert "## ✗ new (1)" in summary
    assert (reports / "diff/comment.md").read_text("utf-8").startswith(MARKER)
    calls = (workspace / "gh-calls").read_text("utf-8").splitlines()
    assert [call.split()[:3] for call in calls] == [
        ["api", "--paginate", calls[0].split()[2]],
        ["api", "--method", "POST"],
    ]
    assert all("repos/them/theirs/issues/7/comments" in call for call in calls)


def test_comment_off_writes_none(workspace: Path) -> None:
    assert certify(workspace, baseline="main", comment="off")[1] == [INSTALL, CERTIFY, DIFF]


def test_no_baseline_compares_nothing(workspace: Path) -> None:
    code, steps, outputs, summary = certify(workspace)
    assert (code, steps) == (1, [INSTALL, CERTIFY])
    assert (outputs["diff"], summary) == ("", "")
