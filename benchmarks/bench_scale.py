"""What many runs cost: memory as their number grows, and runs a second by the number of worker processes.

    python benchmarks/bench_scale.py memory [--runs 200000] [--adapter NAME]
    python benchmarks/bench_scale.py rate   [--runs 200] [--adapter openai] [--jobs 1 2 4]

`memory` makes runs that do nothing: a session is opened and closed in a worker process, as for every run, and the
transcript is stored. With `--adapter` they are runs of a scenario with tools instead. The slope is that of a line
through the memory of all processes, without the first fifth, in which all is imported. The exit code is 1 if it is
above the goal.

`rate` makes the same runs of an adapter's scenarios with tools with so many worker processes, in turns.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import psutil

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.prefork import prepare
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import RunKey, Transcript
from turnproof.scenarios import Scenario

GOAL = 5.0
"""MB that 100,000 runs may add."""

CONTROL = "turnproof.wire.controls.openai_chat:CONTROL"
"""An adapter that imports no SDK."""

NOTHING = Scenario(name="scale/nothing", title="Nothing is said", turns=())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    memory = commands.add_parser("memory")
    memory.add_argument("--runs", type=int, default=200_000)
    memory.add_argument("--adapter")
    rate = commands.add_parser("rate")
    rate.add_argument("--runs", type=int, default=200)
    rate.add_argument("--adapter", default="openai")
    rate.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4])
    rate.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.what == "memory":
        return measure_memory(options.runs, options.adapter)
    measure_rate(options.runs, options.adapter, options.jobs, options.rounds)
    return 0


def measure_memory(count: int, adapter: str | None) -> int:
    """Print the memory as the runs go on, and its slope."""
    name = adapter or CONTROL
    prepare(resolve_subject(name).modules)
    step = max(1, count // 20)
    points: list[tuple[int, float]] = []
    done = itertools.count(1)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="turnproof-scale-") as folder, Runner() as runner:
        store = EvidenceStore(Path(folder))

        def keep(spec: RunSpec, transcript: Transcript) -> None:
            assert transcript.end.how == "completed", transcript.end
            store.put(transcript)
            if (number := next(done)) % step == 0:
                points.append((number, megabytes()))
                print(f"{number:>9,} runs {points[-1][1]:8.1f} MB {time.perf_counter() - began:8.0f} s", flush=True)

        runner.run_all(specs_with_tools(name, count) if adapter else specs_of_nothing(count), keep)
        used = cpu_seconds()
    slope = slope_of(points[len(points) // 5 :]) * 100_000
    print(f"{slope:.2f} MB for each 100,000 runs (goal: {GOAL:g}); {1000 * used / count:.1f} ms of CPU a run")
    return int(slope > GOAL)


def measure_rate(count: int, adapter: str, jobs: Sequence[int], rounds: int) -> None:
    """Print milliseconds a run and runs a second for each number of worker processes."""
    prepare(resolve_subject(adapter).modules)
    found: dict[int, list[tuple[float, float]]] = {number: [] for number in jobs}
    for number in [number for _ in range(rounds) for number in jobs]:
        with Runner(jobs=number) as runner:
            runner.run_all(specs_with_tools(adapter, 8 * number), lambda spec, transcript: None)
            began, used = time.perf_counter(), cpu_seconds()
            runner.run_all(specs_with_tools(adapter, count), lambda spec, transcript: None)
            found[number].append((time.perf_counter() - began, cpu_seconds() - used))
    print("| Worker processes | Runs a second, median (range) | CPU of all processes, median (range) |\n|---|---|---|")
    for number, each in found.items():
        rates = [count / seconds for seconds, _ in each]
        cpu = [1000 * used / count for _, used in each]
        print(f"| {number} | {figure_text(rates)} | {figure_text(cpu)} ms a run |")


def specs_of_nothing(count: int) -> Iterator[RunSpec]:
    """So many runs that do nothing, one after the other."""
    return (RunSpec(CONTROL, NOTHING, RunKey(NOTHING.name, "stateless")) for _ in range(count))


def specs_with_tools(adapter: str, count: int) -> Iterator[RunSpec]:
    """So many runs of scenarios with tools."""
    paths = resolve_subject(adapter).paths
    chosen = [
        one for one in suite_scenarios(load_suite()) if fnmatchcase(one.name, "tools/*") and one.subject == "adapter"
    ]
    every = [RunSpec(adapter, one, RunKey(one.name, path)) for one in chosen if "stream" in one.modes for path in paths]
    return itertools.islice(itertools.cycle(every), count)


def megabytes() -> float:
    """Memory that this process and all below it have for themselves: what they share does not grow."""
    return sum(each.memory_full_info().uss for each in processes()) / 1e6


def cpu_seconds() -> float:
    """Of this process and all below it, those that have ended too."""
    total = 0.0
    for each in processes():
        with contextlib.suppress(psutil.Error):
            total += sum(each.cpu_times()[:4])
    return total


def processes() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def slope_of(points: Sequence[tuple[int, float]]) -> float:
    """The slope of a line through the points."""
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope


def figure_text(figures: Sequence[float]) -> str:
    return f"{statistics.median(figures):.1f} ({min(figures):.1f} to {max(figures):.1f})"


if __name__ == "__main__":
    sys.exit(main())
