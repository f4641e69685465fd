"""What a run costs through a cluster, against one in the worker processes of this machine.

    python benchmarks/bench_cluster.py [--runs 120] [--workers 2] [--rounds 3]

The same runs of one adapter in both places, in turns, each with so many workers on this machine. Both have made a few
runs before the clock starts, so that importing and connecting is not in the figures. The extra `cluster` is needed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import sys
import time
from fnmatch import fnmatchcase

import psutil

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject
from turnproof.run.cluster.options import ClusterOptions
from turnproof.run.driver import RunSpec
from turnproof.run.driver.run_place import RunPlace
from turnproof.run.places import run_place
from turnproof.run.transcript import RunKey

ADAPTER = "anthropic"


def specs(count: int) -> list[RunSpec]:
    """So many runs of scenarios with tools."""
    subject = resolve_subject(ADAPTER)
    chosen = [one for one in suite_scenarios(load_suite()) if fnmatchcase(one.name, "tools/*")]
    every = [
        RunSpec(ADAPTER, one, RunKey(one.name, path))
        for one in chosen
        if "stream" in one.modes
        for path in subject.paths
    ]
    return list(itertools.islice(itertools.cycle(every), count))


def cpu_seconds() -> float:
    """Of this process and all below it, those that have ended too."""
    total = 0.0
    for process in (me := psutil.Process(), *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


def cost(place: RunPlace, runs: list[RunSpec]) -> tuple[float, float]:
    """Milliseconds a run, by the clock and of CPU."""
    began, used = time.perf_counter(), cpu_seconds()
    place.run_all(runs, lambda spec, transcript: None)
    return 1000 * (time.perf_counter() - began) / len(runs), 1000 * (cpu_seconds() - used) / len(runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=120)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    runs, subjects = specs(options.runs), {ADAPTER: resolve_subject(ADAPTER)}
    found: dict[str, list[tuple[float, float]]] = {"this machine": [], "the cluster": []}
    here = run_place(None, subjects, jobs=options.workers)
    there = run_place(ClusterOptions(f"local:{options.workers}"), subjects)
    with here, there:
        places = {"this machine": here, "the cluster": there}
        for place in places.values():
            cost(place, runs[: 8 * options.workers])
        for _ in range(options.rounds):
            for name, place in places.items():
                found[name].append(cost(place, runs))
    for name, costs in found.items():
        for what, each in zip(("ms a run", "ms of CPU a run"), zip(*costs, strict=True), strict=True):
            print(f"{name}: {statistics.median(each):.1f} {what} ({min(each):.1f} to {max(each):.1f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
