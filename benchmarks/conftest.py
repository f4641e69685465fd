"""The server in a process of its own, and the table of ratios at the end of the run."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOALS = {("stateless", 2): 1.15, ("stateless", 200): 0.60, ("stateless", 1000): 0.22}
"""Upper bounds of stateless / sdk, by length of the history."""


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The address of the fixed-reply server."""
    process = subprocess.Popen([sys.executable, str(HERE / "server.py")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Medians of the passes' medians, and ratios of the same pass: both drift together on a noisy machine."""
    session = getattr(config, "_benchmarksession", None)
    if session is None or not session.benchmarks:
        return
    passes: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for bench in session.benchmarks:
        info = bench.extra_info
        if "case" in info:
            passes[info["messages"], info["pass"]][info["case"]] = bench.stats.median
    write = terminalreporter.write_line
    rows = list(table(passes))
    write("")
    write("CPU of one turn (ms, median of passes) and its ratio to the plain SDK call of the same pass")
    write(f"{'messages':>8}  {'case':<10} {'ms':>8}  {'ratio':>7}  [min–max]        goal")
    for row in rows:
        goal = f"<= {row['goal']}" if row["goal"] is not None else ""
        write(
            f"{row['messages']:>8}  {row['case']:<10} {row['ms']:>8.3f}  {row['ratio']:>7.3f}"
            f"  [{row['low']:.3f}–{row['high']:.3f}]  {goal}"
        )
    out = Path(config.rootpath) / "reports"
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(json.dumps({"schema": "turnproof.bench/1", "turn": rows}, indent=1))


def table(passes: dict[tuple[int, int], dict[str, float]]) -> Iterator[dict[str, object]]:
    """A row per length and case."""
    for messages in sorted({length for length, _ in passes}):
        mine = [cases for (length, _), cases in passes.items() if length == messages and "sdk" in cases]
        for case in ("floor", "sdk", "legacy", "stateless"):
            values = [cases[case] for cases in mine if case in cases]
            if not values:
                continue
            ratios = [cases[case] / cases["sdk"] for cases in mine if case in cases]
            yield {
                "messages": messages,
                "case": case,
                "ms": statistics.median(values) * 1000,
                "ratio": statistics.median(ratios),
                "low": min(ratios),
                "high": max(ratios),
                "goal": GOALS.get((case, messages)),
            }
