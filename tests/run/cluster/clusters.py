"""A Dask cluster on this machine for tests, and places that make runs on it."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psutil

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import RunSpec
from turnproof.run.driver.run_place import RunPlace
from turnproof.run.evidence import digest
from turnproof.run.transcript import RunKey
from turnproof.subject import Subject


@contextlib.contextmanager
def dask_cluster(workers: int, folder: str) -> Iterator[Any]:
    """A cluster of so many worker processes on loopback, without a dashboard."""
    from distributed import LocalCluster

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        memory_limit=0,
        local_directory=folder,
        silence_logs=50,
    )
    with contextlib.closing(cluster):
        yield cluster


def registered_workers(cluster: Any) -> list[int]:
    """The process ids of the workers that the scheduler knows.

    A nanny starts another worker for one of them that is killed. For one that is killed while it starts, it may not.
    """
    there = set(cluster.scheduler.workers)
    nannies = [one for one in cluster.workers.values() if one.pid is not None and one.worker_address in there]
    return [int(one.pid) for one in nannies]


def kill_worker(cluster: Any) -> None:
    """SIGKILL for one of the cluster's worker processes. Its nanny starts another one."""
    os.kill(registered_workers(cluster)[0], signal.SIGKILL)


def subjects(*names: str) -> dict[str, Subject]:
    return {name: resolve_subject(name) for name in names}


def specs(subject: str, scenarios: Sequence[str], mutant: str | None = None) -> list[RunSpec]:
    """Runs of these scenarios on both paths."""
    every = {one.name: one for one in suite_scenarios(load_suite())}
    return [
        RunSpec(subject, every[name], RunKey(name, path), mutant)
        for name in scenarios
        for path in resolve_subject(subject).paths
    ]


def digests(place: RunPlace, runs: Iterable[RunSpec]) -> list[tuple[str, str]]:
    """The digest of each run, by name, sorted. A run that came twice is there twice."""
    found: list[tuple[str, str]] = []

    def take_in(spec: RunSpec, transcript: Any) -> None:
        found.append((f"{spec.adapter} {spec.key} {spec.mutant}", digest(transcript)))

    with place:
        place.run_all(runs, take_in)
    return sorted(found)


def hosts() -> list[int]:
    """The processes of ours beside workers: those that were started by the children of this process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("turnproof.run.cluster.host" in word for word in process.cmdline()):
                found.append(process.pid)
    return found
