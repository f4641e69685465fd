"""Every command that makes runs shows on a cluster, and after an interruption, what it shows on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands.command_line import run_turnproof

from run.cluster.clusters import dask_cluster
from turnproof.judge.run_log import read_run

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dask_cluster(2, str(tmp_path_factory.mktemp("dask"))) as found:
        yield str(found.scheduler_address)


COMMANDS = {
    "mutants": ("anthropic", "--only", "result-*"),
    "explore": ("anthropic", "-n", "12"),
    "handoff": ("anthropic", "google_genai", "--after", "1"),
    "compare": ("anthropic", "--scenario", "tools/*"),
    "gate": ("--phase", "1", "--scenario", "tools/*"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_shows_on_a_cluster_what_it_shows_here(command: str, tmp_path: Path, address: str) -> None:
    words = (command, *COMMANDS[command], "--json")
    here = run_turnproof(tmp_path, *words, "--out", "here")
    there = run_turnproof(tmp_path, *words, "--out", "there", "--cluster", address)
    assert (there.returncode, shown(there.stdout)) == (here.returncode, shown(here.stdout))
    assert here.returncode in (0, 1, 3), here.stderr
    assert digests(tmp_path / "there") == digests(tmp_path / "here")


def digests(out: Path) -> dict[Path, str]:
    """The digests of the runs that a command leaves, by file; none of a command that keeps no runs."""
    return {file.relative_to(out): read_run(file).digest for file in out.rglob("run.ndjson")}


def shown(text: str) -> Any:
    """What a command prints as JSON, without when that was, how long it took, and where it was written."""
    found = json.loads(text)
    for volatile in ("started", "duration_s"):
        found.pop(volatile, None)
    return json.loads(json.dumps(found).replace("there/", "here/").replace("--out there", "--out here"))
