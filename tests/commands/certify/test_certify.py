"""`turnproof certify` as a user runs it: a process of its own, an exit code, and files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ..command_line import run_turnproof

HERE = Path(__file__).parent


def certify(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_turnproof(folder, "certify", *words, "--out", "reports", "-j", "1", modules=HERE)


def results(folder: Path, adapter: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "reports/certification.json").read_text())["adapters"][adapter]
    return found


FEW = (
    "--scenario", "basics/plain", "--scenario", "tools/one",
    "--only", "core/finish-reason-says-why", "--only", "core/text-is-what-the-wire-carried",
)  # fmt: skip


ONE = ("--scenario", "basics/plain")


def footer(folder: Path) -> dict[str, Any]:
    last: dict[str, Any] = json.loads((folder / "reports/run.ndjson").read_text().splitlines()[-1])
    assert last["line"] == "footer"
    return last


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reports of a sound adapter."""
    folder = tmp_path_factory.mktemp("sound")
    done = certify(folder, "broken:SOUND", *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_a_sound_adapter_holds_what_was_asked(sound: Path) -> None:
    requirements = results(sound, "sound")["requirements"]
    statuses = {name: entry["status"] for name, entry in requirements.items() if entry["status"] != "not-measured"}
    assert set(statuses.values()) == {"held"}
    assert len(statuses) == 2


def test_a_broken_adapter_is_told_what_broke_where_and_how_to_see_it_again(tmp_path: Path) -> None:
    done = certify(tmp_path, "broken:STOPS", *FEW)
    assert done.returncode == 1
    assert "violated core/finish-reason-says-why" in done.stdout
    assert "turnproof certify broken:STOPS --only core/finish-reason-says-why" in done.stdout
    assert done.stderr.rstrip().endswith("exit 1: violations")
    statuses = {name: entry["status"] for name, entry in results(tmp_path, "stops")["requirements"].items()}
    assert statuses["core/text-is-what-the-wire-carried"] == "held"


@pytest.mark.long
def test_the_command_that_a_failure_names_reproduces_it(tmp_path: Path) -> None:
    certify(tmp_path, "broken:SHOUTS", *FEW)
    requirement = results(tmp_path, "shouts")["requirements"]["core/text-is-what-the-wire-carried"]
    assert requirement["status"] == "violated"
    words = requirement["reproduce"].split()
    assert words[:2] == ["turnproof", "certify"]
    again = certify(tmp_path, *words[2:])
    assert again.returncode == 1
    assert results(tmp_path, "shouts")["requirements"][words[words.index("--only") + 1]]["status"] == "violated"


def test_a_binding_that_raises_on_open_is_the_adapters_fault_and_the_run_goes_on(tmp_path: Path) -> None:
    done = certify(tmp_path, "broken:CLOSED", *ONE, "--only", "core/turns-come-to-an-end")
    assert done.returncode == 1
    assert "RuntimeError: the region is closed" in done.stdout


def test_nothing_measured_is_exit_code_3(tmp_path: Path) -> None:
    done = certify(tmp_path, "broken:CLAIMS_NOTHING", "--scenario", "tools/one", "--only", "tools/*")
    assert done.returncode == 3
    assert "exit 3" in done.stderr


def test_a_hostile_directory_changes_no_verdict_and_no_digest(sound: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("raise SystemExit('hostile')\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only -p no:python\n")
    (tmp_path / "sitecustom.py").write_text("")
    done = certify(tmp_path, "broken:SOUND", *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert footer(tmp_path)["digest"] == footer(sound)["digest"]


def test_a_replay_without_cassettes_says_how_to_record_them(tmp_path: Path) -> None:
    done = certify(tmp_path, "broken:SOUND", "--backend", "replay")
    assert done.returncode == 2
    assert "turnproof record broken:SOUND" in done.stderr


def test_runs_in_this_process_give_the_same_digest_as_runs_in_workers(sound: Path, tmp_path: Path) -> None:
    assert certify(tmp_path, "broken:SOUND", *FEW, "--in-process").returncode == 0
    assert footer(tmp_path)["digest"] == footer(sound)["digest"]


@pytest.mark.long
def test_an_accepted_violation_becomes_a_known_issue_once_it_has_a_reason(tmp_path: Path) -> None:
    assert certify(tmp_path, "broken:STOPS", *FEW, "--accept").returncode == 1
    settings = tmp_path / "turnproof.toml"
    text = settings.read_text()
    assert certify(tmp_path, "broken:STOPS", *FEW).returncode == 1  # the reason is still blank
    settings.write_text(text.replace('reason = ""', 'reason = "mended next week"'))
    assert certify(tmp_path, "broken:STOPS", *FEW).returncode == 0
    entry = results(tmp_path, "stops")["requirements"]["core/finish-reason-says-why"]
    assert entry["status"] == "known-issue"
