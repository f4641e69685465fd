"""`certify --cluster`: a certification on a cluster is that of this machine, verdict by verdict, digest by digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands.command_line import run_turnproof
from turnproof.judge.run_log import ResultLine, Run, read_run

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")


def certified(folder: Path, out: str, *words: str) -> Run:
    done = run_turnproof(folder, "certify", "anthropic", "--out", out, *words)
    assert done.returncode in (0, 3), done.stderr
    return read_run(folder / out / "run.ndjson")


@pytest.mark.long
def test_a_certification_on_a_cluster_has_the_verdicts_and_digests_of_a_local_one(tmp_path: Path) -> None:
    here, there = certified(tmp_path, "here"), certified(tmp_path, "there", "--cluster", "local:2")
    assert len(here.transcripts) > 150
    assert digests(there) == digests(here)
    assert there.header.controls == here.header.controls
    assert {one: line.verdict for one, line in by_name(there).items()} == {
        one: line.verdict for one, line in by_name(here).items()
    }


@pytest.mark.long
def test_a_replay_on_a_cluster_plays_what_is_played_here(tmp_path: Path) -> None:
    words = ("--backend", "replay", "--scenario", "tools/*")
    here, there = certified(tmp_path, "here", *words), certified(tmp_path, "there", *words, "--cluster", "local:1")
    assert digests(there) == digests(here)


def test_a_number_of_processes_beside_a_cluster_is_refused(tmp_path: Path) -> None:
    done = run_turnproof(tmp_path, "certify", "anthropic", "--cluster", "local:2", "-j", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "with --cluster, leave it away" in done.stderr
    assert not (tmp_path / "reports").exists()


def digests(run: Run) -> dict[tuple[str, str], str]:
    assert len({(one.adapter, one.key) for one in run.transcripts}) == len(run.transcripts)
    return {(one.adapter, str(one.key)): one.digest for one in run.transcripts}


def by_name(run: Run) -> dict[tuple[str, str, str], ResultLine]:
    return {(one.adapter, one.requirement, one.path): one for one in run.results}
