"""Runs on a cluster: what a local run shows they show, and a worker that is lost or differs spoils none of it."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from run.cluster.clusters import dask_cluster, digests, hosts, kill_worker, specs, subjects
from turnproof.errors import HarnessError, UsageError
from turnproof.run.cluster.connection import Cluster
from turnproof.run.cluster.identity import Identity, Needs
from turnproof.run.cluster.jobs import batch_of
from turnproof.run.cluster.options import ClusterOptions
from turnproof.run.cluster.runner import ClusterRunner
from turnproof.run.cluster.share import Share
from turnproof.run.driver import RunSpec
from turnproof.run.evidence import digest
from turnproof.run.places import run_place
from turnproof.run.transcript import Transcript
from turnproof.wire.controls import CONTROLS

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

ADAPTER = CONTROLS["anthropic-messages"]
SCENARIOS = ("tools/one", "faults/reset_mid_stream", "cancel/in_text")


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with dask_cluster(1, str(tmp_path_factory.mktemp("dask"))) as found:
        yield found


@pytest.fixture(scope="module")
def local() -> list[tuple[str, str]]:
    return digests(run_place(None, subjects(ADAPTER), jobs=1), specs(ADAPTER, SCENARIOS))


def place(dask: Any, **changed: Any) -> ClusterRunner:
    found = run_place(ClusterOptions(dask.scheduler_address, **changed), subjects(ADAPTER))
    assert isinstance(found, ClusterRunner)
    return found


def test_runs_on_a_cluster_have_the_digests_of_local_ones(dask: Any, local: list[tuple[str, str]]) -> None:
    assert digests(place(dask), specs(ADAPTER, SCENARIOS)) == local


@pytest.mark.long
def test_transcripts_go_through_the_folder_that_is_named_and_leave_nothing_in_it(
    dask: Any, local: list[tuple[str, str]], tmp_path: Path
) -> None:
    seen: list[str] = []
    runner = place(dask, share=f"file://{tmp_path}")
    with runner:
        runner.run_all(specs(ADAPTER, SCENARIOS), lambda spec, _: seen.extend(one.name for one in tmp_path.iterdir()))
    assert all(name.startswith("turnproof-") for name in seen)
    assert len(seen) == len(local)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_what_a_killed_worker_had_is_made_again_and_counts_once(dask: Any, local: list[tuple[str, str]]) -> None:
    found: list[tuple[str, str]] = []

    def kill_at_first(spec: RunSpec, transcript: Transcript) -> None:
        if not found:
            kill_worker(dask)
        found.append((f"{spec.adapter} {spec.key} {spec.mutant}", digest(transcript)))

    with place(dask) as runner:
        runner.run_all(specs(ADAPTER, SCENARIOS), kill_at_first)
    assert sorted(found) == local


@pytest.mark.long
def test_a_process_beside_the_worker_that_ends_costs_its_batch_alone(dask: Any, local: list[tuple[str, str]]) -> None:
    found: list[tuple[str, str]] = []

    def kill_at_first(spec: RunSpec, transcript: Transcript) -> None:
        if not found:
            for host in hosts():
                os.kill(host, signal.SIGKILL)
        found.append((f"{spec.adapter} {spec.key} {spec.mutant}", digest(transcript)))

    with place(dask) as runner:
        runner.run_all(specs(ADAPTER, SCENARIOS), kill_at_first)
    assert sorted(found) == local


def lose(monkeypatch: pytest.MonkeyPatch, is_lost: Callable[[tuple[RunSpec, ...]], bool]) -> list[int]:
    """Lose the worker of each batch for which `is_lost` says so; the sizes of all batches that went out."""
    out: dict[str, tuple[RunSpec, ...]] = {}
    sizes: list[int] = []
    submit, outcome = Cluster.submit, Cluster.outcome

    def submit_and_note(self: Cluster, name: str, setup: bytes, batch: bytes, ended: Callable[[str], None]) -> None:
        out[name] = batch_of(batch).specs
        sizes.append(len(out[name]))
        submit(self, name, setup, batch, ended)

    def outcome_or_loss(self: Cluster, name: str) -> bytes | str:
        found = outcome(self, name)
        return "its worker has been lost" if is_lost(out[name]) else found

    monkeypatch.setattr(Cluster, "submit", submit_and_note)
    monkeypatch.setattr(Cluster, "outcome", outcome_or_loss)
    return sizes


def test_a_batch_that_lives_longer_than_its_workers_gets_done_in_parts(
    dask: Any, local: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = lose(monkeypatch, lambda batch: len(batch) > 1)
    assert digests(place(dask), iter(specs(ADAPTER, SCENARIOS))) == local
    assert sorted(sizes, reverse=True) == [6, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1]


def test_a_run_that_ends_each_of_its_workers_is_named_and_the_others_are_made(
    dask: Any, local: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = specs(ADAPTER, SCENARIOS)
    lose(monkeypatch, lambda batch: any(spec.key == runs[2].key for spec in batch))
    found: list[str] = []
    with pytest.raises(HarnessError, match="the worker 11 times") as failure, place(dask) as there:
        there.run_all(iter(runs), lambda spec, _: found.append(str(spec.key)))
    assert str(failure.value).startswith(f"{ADAPTER} {runs[2].key} lost the worker 11 times (")
    assert sorted(found) == sorted(str(spec.key) for spec in runs if spec.key != runs[2].key)


@pytest.mark.long
def test_nothing_of_a_command_runs_on_when_it_is_over(dask: Any) -> None:
    with place(dask) as runner:
        runner.run(specs(ADAPTER, SCENARIOS)[0])
        assert hosts()
    until = time.monotonic() + 20
    while hosts() and time.monotonic() < until:
        time.sleep(0.1)
    assert hosts() == []


def test_a_worker_that_differs_is_refused_with_both_sides_of_each_difference(
    dask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Identity.here

    def other(needs: Needs) -> Identity:
        found = here(needs)
        distributions = found.distributions | {"msgspec": "0.1"}
        sources = found.sources | {"turnproof": "0" * 64}
        return structs.replace(found, python="CPython 3.99.0", distributions=distributions, sources=sources)

    monkeypatch.setattr(Identity, "here", other)
    with pytest.raises(UsageError) as failure, place(dask):
        pass
    words = str(failure.value)
    assert "differs from this machine in 3 points" in words
    assert f"Python is CPython 3.99.0 here and CPython {platform.python_version()} there" in words
    assert f"msgspec: 0.1 here and {version('msgspec')} there" in words
    assert "the sources of turnproof: 000000000000 here and " in words


def test_a_folder_that_the_worker_does_not_see_is_refused(dask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Share, "sign", lambda self: ("missing", "0" * 64))
    with pytest.raises(UsageError, match="is not the same folder on both: name one that all machines share"):
        place(dask).__enter__()


@pytest.mark.long
def test_a_fault_of_turnproof_on_a_worker_is_no_result(dask: Any) -> None:
    unknown = replace(specs(ADAPTER, SCENARIOS)[0], mutant="no-such-mutant")
    with (
        pytest.raises(UsageError, match="on a worker of the cluster: no mutant named 'no-such-mutant'"),
        place(dask) as it,
    ):
        it.run(unknown)
