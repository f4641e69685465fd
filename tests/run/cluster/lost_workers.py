"""Makes mixed runs on a cluster of this machine whose workers are killed all the while, and compares every digest.

    python -m tests.run.cluster.lost_workers --runs 2000 --workers 2 --between 6

The runs are those of faults, stalls, cancels, tools and plain turns on both paths of several adapters, again and again.
What each has to come to is measured on this machine first. A run that comes to something else is made here again many
times, and where that is seen here as well, the run is unsteady, and the cluster is not at fault. Killed by SIGKILL are
workers of the cluster, and the processes of ours beside them. The exit code is 1 where a run is missing, came twice, or
has another digest that is not seen here.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from turnproof.commands.certify.decide import lacking_for
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject
from turnproof.run.cluster.options import ClusterOptions
from turnproof.run.driver import RunSpec
from turnproof.run.evidence import digest
from turnproof.run.places import run_place
from turnproof.run.transcript import RunKey, Transcript
from turnproof.subject import Subject

from .clusters import dask_cluster, hosts

ADAPTERS = ("anthropic", "openai", "google_genai")
AGAIN = 100
MIXED = ("faults/*", "cancel/*", "tools/*", "basics/*")


def mixed_runs(patterns: tuple[str, ...]) -> list[RunSpec]:
    """A streamed run of each scenario on each path of each adapter that claims what it needs."""
    found = []
    for name in ADAPTERS:
        subject = resolve_subject(name)
        for scenario in suite_scenarios(load_suite()):
            fits = any(fnmatchcase(scenario.name, pattern) for pattern in patterns) and "stream" in scenario.modes
            if fits and not lacking_for(scenario, subject.claims(), subject.operations):
                found += [RunSpec(name, scenario, RunKey(scenario.name, path)) for path in subject.paths]
    return found


def name_of(spec: RunSpec) -> str:
    return f"{spec.adapter} {spec.key}"


class Workers:
    """Workers of a cluster, each a process that is started again when it has ended, as Slurm or Kubernetes does."""

    def __init__(self, scheduler: str, count: int, folder: str) -> None:
        self._words = [sys.executable, "-m", "dask", "worker", scheduler, "--no-nanny", "--nthreads", "1"]
        self._words += ["--host", "127.0.0.1", "--no-dashboard", "--local-directory", folder]
        self._processes = [self._start() for _ in range(count)]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def keep(self) -> None:
        """Start those again that have ended."""
        self._processes = [one if one.poll() is None else self._start() for one in self._processes]

    def pids(self) -> list[int]:
        return [one.pid for one in self._processes]

    def end(self) -> None:
        for one in self._processes:
            one.kill()
            one.wait()


@dataclass
class Killer:
    """Kills a worker of the cluster, or a process of ours beside one, again and again."""

    workers: Workers
    between: float
    generator: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        for what in itertools.cycle(("worker", "host")):
            if self.over.is_set():
                return
            until = time.monotonic() + self.generator.uniform(0.5, 1.5) * self.between
            while time.monotonic() < until and not self.over.wait(0.2):
                self.workers.keep()
            pids = self.workers.pids() if what == "worker" else hosts()
            with contextlib.suppress(ProcessLookupError):
                if pids and not self.over.is_set():
                    os.kill(self.generator.choice(pids), signal.SIGKILL)
                    self.killed[what] += 1


def measure(runs: int, workers: int, between: float, seed: int, patterns: tuple[str, ...]) -> int:
    """Make so many runs; the exit code."""
    specs = mixed_runs(patterns)[:runs]
    subjects = {name: resolve_subject(name) for name in ADAPTERS}
    expected: dict[str, str] = {}
    began = time.monotonic()
    with run_place(None, subjects, jobs=workers) as here:
        here.run_all(specs, lambda spec, transcript: expected.__setitem__(name_of(spec), digest(transcript)))
    local = time.monotonic() - began
    print(f"{len(specs)} runs on this machine: {local:.0f} s", flush=True)
    rounds = itertools.islice(itertools.cycle(specs), runs)
    all_specs = [replace(spec) for spec in rounds]
    came: Counter[int] = Counter()
    wrong: list[tuple[RunSpec, str]] = []
    with tempfile.TemporaryDirectory(prefix="turnproof-lost-") as folder, dask_cluster(0, folder) as cluster:
        started = Workers(cluster.scheduler_address, workers, folder)
        killer = Killer(started, between, random.Random(seed))

        def compare(spec: RunSpec, transcript: Transcript) -> None:
            came[id(spec)] += 1
            if (found := digest(transcript)) != expected[name_of(spec)]:
                wrong.append((spec, found))

        began = time.monotonic()
        try:
            with run_place(ClusterOptions(cluster.scheduler_address), subjects) as there:
                thread = threading.Thread(target=killer.run)
                thread.start()
                try:
                    there.run_all(all_specs, compare)
                finally:
                    killer.over.set()
                    thread.join()
        finally:
            started.end()
        took = time.monotonic() - began
    missing, twice = sum(not came[id(spec)] for spec in all_specs), sum(count > 1 for count in came.values())
    kills = ", ".join(f"{count} of a {what}" for what, count in sorted(killer.killed.items()))
    print(f"{runs} runs on a cluster of {workers}: {took:.0f} s; kills: {kills or 'none'}")
    unsteady = [(spec, found) for spec, found in wrong if found in digests_here(spec, subjects, workers)]
    print(f"{len(wrong)} other digests, {missing} missing, {twice} came twice")
    for spec, found in wrong:
        print(f"  {name_of(spec)}" + (": seen on this machine too" if (spec, found) in unsteady else ""))
    return int(bool(len(wrong) > len(unsteady) or missing or twice or not killer.killed))


def digests_here(spec: RunSpec, subjects: Mapping[str, Subject], workers: int) -> set[str]:
    """What a run comes to on this machine, made many times with more workers than processors."""
    found: set[str] = set()
    with run_place(None, subjects, jobs=2 * workers) as here:
        here.run_all([replace(spec) for _ in range(AGAIN)], lambda _, transcript: found.add(digest(transcript)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--between", type=float, default=6.0, help="seconds between two kills, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenario", action="append", help="patterns of scenarios, if not all")
    arguments = parser.parse_args()
    return measure(
        arguments.runs, arguments.workers, arguments.between, arguments.seed, tuple(arguments.scenario or MIXED)
    )


if __name__ == "__main__":
    sys.exit(main())
