"""`examples/migration` with a provider whose service keeps the conversation: from the chain to the session and back.

Real processes in copies of the example. The commands are those of the page.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .migration_copies import copies_after, patch, run

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "migration"
GATING = Path(__file__).with_name("gating.py")
PAGE = (EXAMPLE / "README.md").read_text("utf-8").split("## A provider whose service keeps")[1].split("\n## ")[0]

CHANGES = (
    ("1-session-history", "chain/1-chain"),
    ("2-stateless-pilot", "chain/2-complete"),
    ("3-all-providers",),
    ("4-legacy-removed", "chain/4-chain-removed"),
    ("5-one-path", "chain/5-one-path"),
)
"""The patches of each phase, in order."""


def patch_of(change: str) -> Path:
    return EXAMPLE / "changes" / f"{change}.patch"


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The example by itself, and after the changes of each phase."""
    changes = [[patch_of(change) for change in phase] for phase in CHANGES]
    return copies_after(changes, EXAMPLE, tmp_path_factory.mktemp("chain"))


@pytest.fixture(scope="module")
def gates(projects: list[Path]) -> Mapping[int, dict[str, Any]]:
    """What the gate of each phase says after its changes."""
    done = run(projects[0], sys.executable, str(GATING), *map(str, projects), timeout=850)
    assert done.returncode == 0, done.stderr
    phases = range(1, len(CHANGES) + 1)
    return {
        phase: json.loads((projects[phase] / "reports" / f"gate-{phase}.json").read_text("utf-8")) for phase in phases
    }


@pytest.mark.parametrize("phase", range(1, len(CHANGES) + 1))
def test_each_gate_is_open_with_the_provider_whose_service_keeps_conversations(
    phase: int, gates: Mapping[int, dict[str, Any]]
) -> None:
    report = gates[phase]
    assert report["state"] == "open", [one for subject in report["subjects"] for one in subject["criteria"]]
    assert any("loom-responses" in json.dumps(subject) for subject in report["subjects"])


@pytest.mark.parametrize(
    ("phase", "missing", "criterion"),
    [(2, "chain/2-complete", "2/turns-are-answered"), (4, "chain/4-chain-removed", "4/no-history-in-the-source")],
)
def test_without_the_change_of_the_provider_the_gate_is_closed(
    projects: list[Path], tmp_path: Path, phase: int, missing: str, criterion: str
) -> None:
    folder = tmp_path / "loom"
    shutil.copytree(projects[phase], folder)
    patch(folder, patch_of(missing), "-R")
    done = run(folder, sys.executable, "-m", "turnproof", "gate", "--phase", str(phase), "--scenario", "tools/one")
    assert done.returncode == 1, done.stdout
    assert f"closed {criterion}" in done.stdout
    assert f"closed {criterion}" in PAGE


def test_chain_and_whole_history_meet_what_is_asked_of_stored_conversations(projects: list[Path]) -> None:
    command = (sys.executable, "-m", "turnproof", "certify", "loom_responses:RESPONSES", "--only", "stored/*")
    for phase in (1, 3):
        done = run(projects[phase], *command)
        assert "violated" not in done.stdout, done.stdout
    (summary,) = [line for line in done.stdout.splitlines() if " verdicts (" in line]
    assert int(re.findall(r"(\d+) held", summary)[0]) >= 24


def test_taken_back_in_the_opposite_order_the_changes_leave_what_was_there(
    projects: list[Path], tmp_path: Path
) -> None:
    """So the gates that were open on the way are open again: it is the same source."""
    folder = tmp_path / "loom"
    shutil.copytree(projects[-1], folder)
    for phase in range(len(CHANGES), 0, -1):
        for change in reversed(CHANGES[phase - 1]):
            patch(folder, patch_of(change), "-R")
        assert sources(folder) == sources(projects[phase - 1])


def test_the_flag_leads_back_to_the_chain_without_a_change(projects: list[Path]) -> None:
    command = (sys.executable, "-c", SHOWN)
    outcomes = [run(projects[3], *command, LOOM_SESSION_HISTORY=flag) for flag in ("0", "1")]
    assert [one.returncode for one in outcomes] == [0, 0], [one.stderr for one in outcomes]
    assert [one.stdout.split() for one in outcomes] == [["2", "chained"], ["0", "whole"]]


SHOWN = """
from loom import Session
from loom.providers.responses import ResponsesProvider
from turnproof.dialects import dialect
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder

with EmulatorServer() as server:
    run = server.open_run(dialect("openai-responses"), EchoResponder(), any_key=True)
    session = Session(ResponsesProvider(run.base_url, "key", "gpt-4.1"))
    assert session.send("One") == "You said: One"
    assert session.send("Two") == "You said: Two"
    body = run.exchanges[-1].call.body
    print(len(run.dialect.stored_ids(run.world)), "chained" if "previous_response_id" in body else "whole")
    assert len(session.history) == 4
"""
"""A conversation of two turns: how many answers the service keeps, and what the last request was."""


def sources(folder: Path) -> dict[str, str]:
    """The source of a project, by file."""
    files = [*folder.rglob("*.py"), *folder.glob("*.toml")]
    return {str(file.relative_to(folder)): file.read_text("utf-8") for file in files}


def test_the_page_has_every_change_in_its_order_and_the_way_back() -> None:
    commands = [line for line in PAGE.splitlines() if line.startswith("$ git apply ")]
    there = [name for line in commands if " -R " not in line for name in re.findall(r"changes/(\S+)\.patch", line)]
    back = [name for line in commands if " -R " in line for name in re.findall(r"changes/(\S+)\.patch", line)]
    names = [name for changes in CHANGES for name in changes]
    assert there == names
    assert back == names[: names.index("3-all-providers") - 1 : -1]
