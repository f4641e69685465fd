"""`certify --resume`: what an interrupted run has is taken over, and the result is that of an unbroken one."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.resume import ASIDE, Earlier, earlier_runs, set_aside
from turnproof.errors import UsageError
from turnproof.judge.run_log import Run, read_run
from turnproof.run import sources
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import EvidenceStore
from turnproof.run.sources import sources_digest

LOG = "run.ndjson"


def options(out: Path, **changed: Any) -> CertifyOptions:
    return CertifyOptions(adapters=("anthropic",), scenarios=("basics/plain",), out=out, in_process=True, **changed)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    certify(options(folder))
    return folder


def interrupted(unbroken: Path, folder: Path, runs: int) -> Path:
    """A folder as a process leaves it that was killed after so many runs, in the middle of a line."""
    shutil.copytree(unbroken, folder)
    rows = (folder / LOG).read_bytes().split(b"\n")
    places = [at for at, row in enumerate(rows) if b'"line":"transcript"' in row]
    (folder / LOG).write_bytes(b"\n".join(rows[: places[runs]]) + b"\n" + rows[places[runs]][:40])
    return folder


def resumed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that are made when the folder is gone on with."""
    runs: list[str] = []
    run_all = Runner.run_all

    def noting(self: Runner, specs: Any, *rest: Any, **more: Any) -> None:
        every: list[RunSpec] = list(specs)
        runs.extend(f"{one.adapter} {one.key}" for one in every)
        run_all(self, every, *rest, **more)

    monkeypatch.setattr(Runner, "run_all", noting)
    certify(options(folder, resume=True))
    return runs


@pytest.mark.parametrize("runs", [pytest.param(0, marks=pytest.mark.long), 2])
def test_what_is_there_is_not_measured_again(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: int
) -> None:
    folder, whole = interrupted(unbroken, tmp_path / "cut", runs), read_run(unbroken / LOG)
    resumed_runs = resumed(folder, monkeypatch)
    there = {f"anthropic {line.key}" for line in whole.transcripts[:runs]}
    assert sorted(resumed_runs) == sorted({f"anthropic {line.key}" for line in whole.transcripts} - there)
    again = read_run(folder / LOG)
    assert again.digest == whole.digest
    assert again.footer is not None
    assert not (folder / ASIDE).exists()


def test_a_second_interruption_loses_nothing_of_the_first(unbroken: Path, tmp_path: Path) -> None:
    folder = interrupted(unbroken, tmp_path / "cut", 3)
    found = earlier(folder)
    set_aside(folder, found)
    (folder / LOG).unlink()  # the new log has not begun, or holds one run alone
    assert earlier(folder).lines.keys() == found.lines.keys()
    interrupted(unbroken, tmp_path / "other", 1)
    shutil.copy(tmp_path / "other" / LOG, folder / LOG)
    assert earlier(folder).lines.keys() == found.lines.keys()


def test_damaged_evidence_is_measured_again(unbroken: Path, tmp_path: Path) -> None:
    folder = interrupted(unbroken, tmp_path / "cut", 3)
    line = read_run(folder / LOG).transcripts[1]
    EvidenceStore(folder / "evidence").path(line.digest).write_bytes(b"damaged")
    assert (line.adapter, line.key) not in earlier(folder).lines
    assert len(earlier(folder).lines) == 2


def test_there_may_be_nothing_to_go_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "nothing"
    folder.mkdir()
    run = Earlier()
    set_aside(folder, run)
    assert list(folder.iterdir()) == []


def earlier(folder: Path, **changed: Any) -> Earlier:
    """What is taken over from a folder by a run like the one there, but for what is `changed` of its header."""
    file = folder / LOG if (folder / LOG).exists() else folder / ASIDE
    run: Run = read_run(file)
    head = msgspec.structs.replace(run.header, **changed)
    return earlier_runs(folder, head, tuple(run.adapters.values()), EvidenceStore(folder / "evidence"))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sources": "others"}, "the sources of turnproof, of the suite or of a subject changed"),
        ({"seed": 7}, "the seed changed"),
        ({"turnproof": "0.0.1"}, "the version of turnproof changed"),
        ({"files": ("/mine.yaml",)}, "the scenarios of your own changed"),
    ],
)
def test_a_run_that_was_made_otherwise_is_refused(unbroken: Path, changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        earlier(unbroken, **changed)


def with_packages(run: Run, **packages: str) -> dict[str, Any]:
    return {"environment": msgspec.structs.replace(run.header.environment, packages=packages)}


def test_another_version_of_a_package_is_refused_by_its_name(unbroken: Path) -> None:
    changed = with_packages(read_run(unbroken / LOG), anthropic="0.0.1", openai="3.0.0")
    with pytest.raises(
        UsageError, match=r"the packages changed \(\{'anthropic': '[^']*'\} then, \{'anthropic': '0.0.1'\} now"
    ):
        earlier(unbroken, **changed)


def test_packages_of_other_adapters_are_no_difference(unbroken: Path) -> None:
    run = read_run(unbroken / LOG)
    changed = with_packages(run, **run.header.environment.packages, openai="3.0.0")
    assert earlier(unbroken, **changed).lines


def test_an_adapter_that_is_measured_otherwise_is_measured_again(unbroken: Path) -> None:
    run = read_run(unbroken / LOG)
    other = [msgspec.structs.replace(one, model="another") for one in run.adapters.values()]
    store = EvidenceStore(unbroken / "evidence")
    assert earlier_runs(unbroken, run.header, other, store).lines == {}


@pytest.mark.long
def test_without_the_option_nothing_is_taken_over(unbroken: Path, tmp_path: Path) -> None:
    folder = interrupted(unbroken, tmp_path / "cut", 3)
    set_aside(folder, earlier(folder))
    certify(options(folder))
    assert not (folder / ASIDE).exists()
    assert read_run(folder / LOG).digest == read_run(unbroken / LOG).digest


def test_the_digest_of_sources_changes_with_any_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("one_package", "two_package"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("x = 1")
    first = sources_digest(["one_package", "two_package"])
    assert sources_digest(["two_package", "one_package", "one_package"]) == first
    assert sources_digest(["one_package"]) != first
    assert sources_digest(["one_package", "no_such_package"]) != sources_digest(["one_package", "no_other_package"])
    (tmp_path / "three_module.py").write_text("x = 1")
    third = sources_digest(["three_module"])
    (tmp_path / "three_module.py").write_text("x = 2")
    sources._digest.cache_clear()
    assert sources_digest(["three_module"]) != third


def runs_in(folder: Path) -> int:
    """How many runs a folder has, in both of its logs."""
    there: set[str] = set()
    for name in (LOG, ASIDE):
        with contextlib.suppress(UsageError):  # it may go between two looks
            there |= {str(line.key) for line in read_run(folder / name).transcripts}
    return len(there)


def kills(words: list[str], folder: Path, draw: random.Random, count: int) -> list[int]:
    """Go on with a run, and kill it: after some more runs, or at any moment. How many runs were there after each."""
    there: list[int] = []
    for _ in range(count):
        before, more = (there or [0])[-1], draw.choice((0, 1, 1, 2))
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and runs_in(folder) < before + more:
            time.sleep(0.05)
        time.sleep(draw.uniform(0, 0.5 if more else 6))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        there.append(runs_in(folder))
    return there


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_killed_at_twenty_random_moments_it_comes_to_the_same(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "turnproof",
        "certify",
        "anthropic",
        "--scenario",
        "basics/*",
        "--scenario",
        "tools/*",
    ]
    whole, folder = tmp_path / "unbroken", tmp_path / "killed"
    subprocess.run([*words, "--out", str(whole)], check=False, capture_output=True, timeout=900)
    resuming = [*words, "--out", str(folder), "--resume"]
    there = kills(resuming, folder, random.Random(0), 20)
    print("runs after each kill:", there)
    assert there == sorted(there), "what is there stays there"
    assert 10 < there[-1] < runs_in(whole), "it was killed in the middle of its runs"
    last = subprocess.run(resuming, check=False, capture_output=True, text=True, timeout=900)
    assert f"resumed: {there[-1]} runs taken over" in last.stderr
    unbroken, killed = read_run(whole / LOG), read_run(folder / LOG)
    assert killed.digest == unbroken.digest
    assert killed.footer is not None
    verified = subprocess.run([*words[:3], "verify", str(folder)], check=False, capture_output=True, timeout=900)
    assert verified.returncode == 0, verified.stdout
