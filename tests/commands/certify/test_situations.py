"""The table of situations in docs/commands.md, row by row: what the command returns, and what is left in its folder.

Real processes, since signals, descriptors, locks and limits are theirs. Only `docs/commands.md` has the codes.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof.judge.run_log import read_run
from turnproof.run.evidence import EvidenceStore

from ..command_line import run_turnproof, start_turnproof

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "commands.md"

FEW = ("--scenario", "basics/plain", "--only", "core/text-is-what-the-wire-carried")
REPORTS = {"certification.json", "index.html", "junit.xml", "summary.md", "turnproof.sarif"}

Done = subprocess.CompletedProcess[str]


def table() -> dict[str, str]:
    """The code of each situation, as the page has it."""
    text = PAGE.read_text("utf-8").partition("| Situation | Code |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| ([^|]+) \| [^|]+ \|$", text.replace(r"\|", "\0"), re.MULTILINE)
    return {situation.replace("\0", r"\|"): code.strip() for situation, code in rows}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the whole run of a sound adapter."""
    folder = tmp_path_factory.mktemp("earlier")
    assert certify(folder, "broken:SOUND").returncode == 0
    return folder


@pytest.fixture
def folder(earlier: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder of our own with such a run."""
    shutil.copytree(earlier, tmp_path / "own")
    yield tmp_path / "own"
    assert not list((tmp_path / "own").rglob("*.part"))


def certify(folder: Path, *words: str) -> Done:
    return run_turnproof(folder, "certify", *words, *FEW, "--out", "reports", "--in-process", modules=HERE)


def shell(folder: Path, command: str) -> Done:
    """A command as a shell runs it, with its streams as the shell has them; the code is that of turnproof."""
    script = command.replace("turnproof", f"{sys.executable} -m turnproof", 1) + "; exit ${PIPESTATUS[0]}"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=100, check=False)


def hanging(folder: Path) -> subprocess.Popen[str]:
    """A certification that is in the middle of its runs."""
    words = ("certify", "broken:SOUND", "broken:HANGS", *FEW, "--out", "reports", "-j", "1")
    process = start_turnproof(folder, *words, modules=HERE)
    while not (folder / "hanging").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


def end_by(process: subprocess.Popen[str], number: signal.Signals) -> Done:
    process.send_signal(number)
    out, talk = process.communicate(timeout=100)
    return subprocess.CompletedProcess([], process.returncode, out, talk)


def reports_in(folder: Path) -> set[str]:
    names = {path.name for path in (folder / "reports").iterdir()}
    return names & REPORTS


def adapters_of(folder: Path) -> set[str]:
    """The adapters that any of the reports is about."""
    certification = json.loads((folder / "reports/certification.json").read_text())["adapters"]
    badges = {path.stem.removeprefix("badge-") for path in (folder / "reports").glob("badge-*.json")}
    return set(certification) | badges


def is_whole(folder: Path) -> None:
    """The run came to its end, all reports are there, and the evidence is that of this run and sound."""
    run = read_run(folder / "reports/run.ndjson")
    assert run.complete
    assert reports_in(folder) == REPORTS
    assert adapters_of(folder) == set(run.adapters)
    store = EvidenceStore(folder / "reports/evidence")
    used = {line.digest for line in run.transcripts} | {
        digest for control in run.header.controls for digest in control.evidence.values()
    }
    assert set(store.digests()) == used
    assert [problem for digest in used if (problem := store.verify(digest))] == []
    assert not (folder / "reports/run.lock").exists()


def is_cut(folder: Path) -> None:
    """The run is the new one, it has no end, and every report says so."""
    run = read_run(folder / "reports/run.ndjson")
    assert not run.complete
    assert set(run.adapters) == {"sound", "hangs"}
    assert reports_in(folder) == REPORTS
    assert adapters_of(folder) == {"sound", "hangs"}
    certification: dict[str, Any] = json.loads((folder / "reports/certification.json").read_text())
    assert not any(adapter["certified"] for adapter in certification["adapters"].values())
    assert "cut" in json.loads((folder / "reports/badge-sound.json").read_text())["message"]
    assert not (folder / "reports/run.lock").exists()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def held(folder: Path) -> Done:
    done = certify(folder, "broken:SOUND")
    is_whole(folder)
    return done


def violated(folder: Path) -> Done:
    done = certify(folder, "broken:SHOUTS")
    is_whole(folder)
    assert adapters_of(folder) == {"shouts"}
    return done


def inconclusive(folder: Path) -> Done:
    done = certify(folder, "broken:CLOSED")
    is_whole(folder)
    return done


def unknown_requirement(folder: Path) -> Done:
    before = snapshot(folder)
    done = certify(folder, "broken:SOUND", "--only", "core/nothing-like-this")
    assert snapshot(folder) == before
    return done


def bad_settings(folder: Path) -> Done:
    (folder / "turnproof.toml").write_text("jobs = -1\n")
    before = snapshot(folder)
    done = certify(folder, "broken:SOUND")
    assert "turnproof.toml: $.jobs" in done.stderr
    assert snapshot(folder) == before
    return done


def interrupted(folder: Path) -> Done:
    done = end_by(hanging(folder), signal.SIGINT)
    assert done.stderr.endswith("exit 130: interrupted\n")
    is_cut(folder)
    return done


def terminated(folder: Path) -> Done:
    done = end_by(hanging(folder), signal.SIGTERM)
    assert done.stderr.endswith("exit 143: terminated\n")
    is_cut(folder)
    return done


def killed(folder: Path) -> Done:
    done = end_by(hanging(folder), signal.SIGKILL)
    run = read_run(folder / "reports/run.ndjson")
    assert (run.complete, set(run.adapters)) == (False, {"sound", "hangs"})
    assert reports_in(folder) == set()
    assert not list((folder / "reports").glob("badge-*"))
    # The lock of a process that is gone holds nobody up.
    assert run_turnproof(folder, "report", "reports").returncode == 3
    is_cut(folder)
    return done


def second(folder: Path) -> Done:
    first = hanging(folder)
    before = snapshot(folder)
    done = certify(folder, "broken:SOUND")
    assert f"another run writes into reports (process {first.pid})" in done.stderr
    assert snapshot(folder) == before
    assert run_turnproof(folder, "report", "reports").returncode == 2
    end_by(first, signal.SIGINT)
    is_cut(folder)
    return done


def damaged_evidence(folder: Path) -> Done:
    evidence = folder / "reports/evidence"
    for path in evidence.iterdir():
        os.truncate(path, 20)
    (evidence / f"{'0' * 64}.json.gz").write_bytes(b"of a run before")
    done = certify(folder, "broken:SOUND")
    is_whole(folder)
    return done


def out_is_a_file(folder: Path) -> Done:
    shutil.rmtree(folder / "reports")
    (folder / "reports").write_text("mine")
    done = certify(folder, "broken:SOUND")
    assert done.stderr.startswith("error: cannot write reports: ")
    assert (folder / "reports").read_text() == "mine"
    return done


def name_is_taken(folder: Path) -> Done:
    (folder / "reports/index.html").unlink()
    (folder / "reports/index.html").mkdir()
    done = certify(folder, "broken:SOUND")
    assert "error: cannot remove reports/index.html" in done.stderr
    return done


def limited(size: int) -> Callable[[], None]:
    """A full disk, imitated by a limit on the size of a file: a larger write fails after its first part."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def full_log(folder: Path) -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "turnproof", "certify", "broken:SOUND", *FEW, "--out", "reports", "--in-process"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
        preexec_fn=limited((folder / "reports/run.ndjson").stat().st_size - 2000),
        timeout=100,
        check=False,
    )
    assert "error: cannot write reports/run.ndjson: File too large" in done.stderr
    assert not read_run(folder / "reports/run.ndjson").complete
    assert reports_in(folder) == set()
    return done


def full_reports(folder: Path) -> Done:
    before = snapshot(folder)
    sizes = {name: (folder / "reports" / name).stat().st_size for name in REPORTS}
    done = subprocess.run(
        [sys.executable, "-m", "turnproof", "report", "reports"],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=limited(sizes["index.html"] - 1),
        timeout=100,
        check=False,
    )
    assert "error: cannot write reports/index.html: File too large" in done.stderr
    assert snapshot(folder)["reports/index.html"] == before["reports/index.html"]
    return done


def with_streams(streams: str) -> Callable[[Path], Done]:
    def situation(folder: Path) -> Done:
        for name in REPORTS:
            (folder / "reports" / name).unlink()
        done = shell(folder, f"turnproof report reports {streams}")
        is_whole(folder)
        return done

    return situation


def damaged_log(folder: Path) -> Done:
    file = folder / "reports/run.ndjson"
    file.write_bytes(b"[" * 100_000 + b"\n" + file.read_bytes())
    before = snapshot(folder)
    done = run_turnproof(folder, "verify", "reports")
    assert "run.ndjson: line 1 is damaged" in done.stderr
    assert snapshot(folder) == before
    return done


def damaged_history(folder: Path) -> Done:
    shutil.copytree(folder / "reports", folder / "runs/whole")
    shutil.copytree(folder / "reports", folder / "runs/torn")
    (folder / "runs/torn/run.ndjson").write_bytes(b"[\n" + (folder / "reports/run.ndjson").read_bytes())
    done = run_turnproof(folder, "history", "runs", "--out", "told")
    history = json.loads((folder / "told/history.json").read_text())
    assert [one["run"] for one in history["skipped"]] == ["torn"]
    assert history["adapters"]
    return done


SITUATIONS: dict[str, Callable[[Path], Done]] = {
    "every claimed MUST is held": held,
    "a requirement is violated": violated,
    "the command line names a requirement that does not exist": unknown_requirement,
    "`turnproof.toml` has a value that cannot be used": bad_settings,
    "a MUST is inconclusive": inconclusive,
    "Ctrl-C in the middle of the runs": interrupted,
    "SIGTERM in the middle of the runs": terminated,
    "SIGKILL in the middle of the runs": killed,
    "another run writes into the same folder": second,
    "evidence in the folder is damaged, or of an earlier run": damaged_evidence,
    "`--out` is a file": out_is_a_file,
    "a folder has the name of a report": name_is_taken,
    "the disk is full in the middle of the runs": full_log,
    "the disk is full while the reports are written": full_reports,
    "stdout is closed (`>&-`)": with_streams(">&-"),
    "stderr is closed (`2>&-`)": with_streams("2>&-"),
    r"stdout has no reader (`\| head`)": with_streams("| true"),
    "stdout is full (`> /dev/full`)": with_streams("> /dev/full"),
    "stderr is full (`2> /dev/full`)": with_streams("2> /dev/full"),
    "`run.ndjson` is damaged, and a command reads it": damaged_log,
    "one of the runs that `turnproof history` reads is damaged": damaged_history,
}


def test_every_situation_of_the_page_is_tried() -> None:
    assert list(table()) == list(SITUATIONS)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_ends_with_the_code_that_the_page_has(folder: Path, situation: str) -> None:
    done = SITUATIONS[situation](folder)
    code = table()[situation]
    expected = {"as without it": 0, "none, the process is gone": -signal.SIGKILL}.get(code)
    assert done.returncode == (int(code) if expected is None else expected), done.stderr
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    silent = "stderr" in situation or "history" in situation
    assert len(errors) == (1 if code == "2" and not silent else 0), done.stderr
    assert "turnproof failed" not in done.stderr
