"""`turnproof compare` as a user runs it: a process of its own, tables and files, an exit code."""

from __future__ import annotations

import json
import subprocess
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from turnproof.judge.parity import KIND_NAMES
from turnproof.judge.run_log import read_run

from ..command_line import interrupt, run_turnproof, start_turnproof

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
SCHEMA = json.loads((files("turnproof.report") / "comparison.schema.json").read_text())
ONE = ("--scenario", "basics/plain", "--in-process")


def compare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_turnproof(folder, "compare", *words, modules=HERE)


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a comparison with violations was made."""
    folder = tmp_path_factory.mktemp("kept")
    done = compare(folder, "differing:SHOUTS", *ONE, "--bytes")
    assert done.returncode == 1, done.stdout + done.stderr
    (folder / "said.txt").write_text(done.stdout)
    return folder


def test_violations_stand_side_by_side_with_the_command_to_see_them_again(run_folder: Path) -> None:
    stdout = (run_folder / "said.txt").read_text()
    assert stdout.startswith("stateless | legacy of shouts\n")
    assert "✗ violated     basics/plain [stream]  answers 1, history 1, outcome 1" in stdout
    assert "answers-differ" in stdout
    assert '"The basil grows in bed 3."' in stdout
    assert '"THE BASIL GROWS IN BED 3."' in stdout
    assert "both bodies have the same" in stdout
    assert "turnproof compare differing:SHOUTS --scenario basics/plain --in-process" in stdout


def test_the_page_and_the_json_stand_beside_the_run(run_folder: Path) -> None:
    out = run_folder / "reports" / "compare"
    assert {path.name for path in out.iterdir()} == {
        "run.ndjson",
        "evidence",
        "comparison.json",
        "compare.html",
    }
    found = json.loads((out / "comparison.json").read_text())
    jsonschema.validate(found, SCHEMA)
    assert found["counts"] == {"violated": 2, "inconclusive": 0, "declared": 0, "equal": 0}
    first = found["scenarios"][0]["bodies"][0]
    assert first["differs_at"] is None
    assert first["left"].startswith('{"max_tokens":8192,"messages":[{"role":"user","content":')  # not sorted
    assert first["left_bytes"] == len(first["left"].encode())


def test_a_comparison_is_derived_again_from_its_run(run_folder: Path) -> None:
    first = json.loads((run_folder / "reports" / "compare" / "comparison.json").read_text())
    done = compare(run_folder, "reports/compare", "--json", "--bytes")
    assert done.returncode == 1, done.stderr
    again = report(done)
    for found in (first, again):
        for one in found["scenarios"]:
            del one["reproduce"]
    assert again == first


def test_the_run_of_a_comparison_can_be_verified(run_folder: Path) -> None:
    done = run_turnproof(run_folder, "verify", "reports/compare")
    assert "6 transcripts and 0 verdicts checked" in done.stderr
    assert done.stdout == ""


def test_equal_paths_give_0_and_a_line_each(tmp_path: Path) -> None:
    done = compare(tmp_path, "differing:SAME", *ONE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✓ equal        basics/plain [stream]" in done.stdout
    assert done.stdout.rstrip().endswith("2 comparisons: 2 equal")
    assert done.stderr.rstrip().endswith("exit 0: ok")


def test_two_adapters_and_json(tmp_path: Path) -> None:
    done = compare(
        tmp_path, "differing:SAME", "differing:SETTINGS", *ONE, "--mode", "batch", "--path", "legacy", "--json"
    )
    assert done.returncode == 1
    found = report(done)
    assert (found["compares"], found["left"], found["right"]) == ("adapters", "same", "settings")
    ((one,)) = found["scenarios"]
    assert (one["mode"], one["left"]["key"]["path"]) == ("batch", "legacy")
    assert {difference["name"] for difference in one["differences"]} == {"request-settings"}
    again = compare(tmp_path, "reports/compare", "--json")
    assert report(again)["compares"] == "adapters"


def test_settings_declare_and_a_reason_is_shown(tmp_path: Path) -> None:
    (tmp_path / "turnproof.toml").write_text(
        '[[declared-difference]]\nadapter = "settings"\nname = "request-settings"\nreason = "the old limit"\n'
    )
    done = compare(tmp_path, "differing:SETTINGS", *ONE)
    assert done.returncode == 0, done.stdout
    assert "≈ declared     basics/plain [stream]" in done.stdout
    assert "declared request-settings (in 2 comparisons): the old limit" in done.stdout


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('adapter = "same"\nname = "cache-mark"\nreason = "x"', "did you mean 'cache-marks'"),
        ('adapter = "same"\nname = "cache-marks"\nreason = " "', "gives no reason"),
        ('adapter = "same"\nname = "cache-marks"', "declared-difference[0]: Object missing required field `reason`"),
        ('adapter = "same"\nname = "cache-marks"\nreason = "x"\nuntil = "y"', "unknown key 'until'"),
    ],
)
def test_a_declaration_that_is_wrong_is_one_clear_line(tmp_path: Path, entry: str, message: str) -> None:
    (tmp_path / "turnproof.toml").write_text(f"[[declared-difference]]\n{entry}\n")
    done = compare(tmp_path, "differing:SAME", *ONE)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("error: ") == 1
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("differing:ONE_PATH",), "has no legacy path to compare"),
        (("differing:SAME", "differing:SAME"), "named twice"),
        (("differing:SAME", "--path", "legacy"), "cannot be compared with itself"),
        (("differing:SAME", "--scenario", "basics/plane"), "did you mean"),
        (("nobody",), "unknown adapter"),
        ((), "Missing argument"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = compare(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_nothing_compared_is_3(tmp_path: Path) -> None:
    done = compare(tmp_path, "differing:SAME", "--scenario", "cache/managed_expiry", "--in-process")
    assert done.returncode == 3
    assert "Nothing was compared." in done.stdout
    assert "left out: 1 scenario, because cache:managed is not claimed" in done.stderr


def test_an_interrupted_comparison_keeps_what_it_has(tmp_path: Path) -> None:
    words = ("compare", "differing:HANGS", "--scenario", "basics/plain", "-j", "1")
    process = start_turnproof(tmp_path, *words, modules=HERE)
    log = tmp_path / "reports" / "compare" / "run.ndjson"
    while not (log.exists() and log.read_text().count("\n") >= 3):  # header, adapter, and the stateless run
        assert process.poll() is None
        time.sleep(0.05)
    interrupt(process)
    assert read_run(log).transcripts[0].key.path == "stateless"
    assert not read_run(log).complete


def test_the_kinds_of_differences_are_listed(tmp_path: Path) -> None:
    done = run_turnproof(tmp_path, "list", "differences", "--json")
    assert done.returncode == 0, done.stderr
    assert [each["name"] for each in json.loads(done.stdout)["differences"]] == list(KIND_NAMES)
