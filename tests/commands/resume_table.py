"""Kills certifications at random moments and goes on with each: they come to what an unbroken one comes to.

    python -m tests.commands.resume_table [ADAPTER] [--kills 20] [--scenario 'tools/*']

Every campaign begins in a folder of its own, is killed with all its processes by SIGKILL at a random moment after a
drawn number of its runs has ended, and is resumed to its end. Digests of runs and verdicts are compared. Prints a
table; the exit code is 1 if one differs, or if no kill hit a campaign that had runs and was not over.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turnproof.judge.run_log import read_run


@dataclass(frozen=True)
class Resumed:
    """A campaign that was killed and gone on with.

    kept:       lines of runs in its log when it was killed.
    taken_over: runs that were not made again.
    digests, verdicts: whether they are those of the unbroken one.
    """

    number: int
    was_over: bool
    kept: int
    taken_over: int
    digests: bool
    verdicts: bool

    def row(self) -> str:
        same = {True: "equal", False: "DIFFERENT"}
        over = ", and was over" if self.was_over else ""
        return (
            f"| {self.number} | {self.kept}{over} | {self.taken_over} | {same[self.digests]} | {same[self.verdicts]} |"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", nargs="?", default="openai")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--scenario", default="tools/*")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    found = resumed_campaigns(options.adapter, options.scenario, options.kills, options.seed)
    ok = all(one.digests and one.verdicts for one in found)
    return int(not ok or not any(one.taken_over and not one.was_over for one in found))


def resumed_campaigns(adapter: str, scenario: str, kills: int, seed: int) -> list[Resumed]:
    """Kill so many campaigns and go on with each; prints a row for each as it ends."""
    words = [sys.executable, "-m", "turnproof", "certify", adapter, "--scenario", scenario]
    generator = random.Random(seed)
    found: list[Resumed] = []
    with tempfile.TemporaryDirectory(prefix="turnproof-kills-") as name:
        folder = Path(name)
        whole([*words, "--out", str(folder / "unbroken")])
        digests, verdicts = outcome(folder / "unbroken")
        print(f"{adapter}, {scenario}: {len(digests)} runs, {len(verdicts)} verdicts\n")
        print("| Kill | Runs when it came | Taken over | Digests | Verdicts |\n|---|---|---|---|---|", flush=True)
        for number in range(1, kills + 1):
            out = folder / str(number)
            resuming = [*words, "--out", str(out), "--resume"]
            over, kept_runs = kill(resuming, out, generator.randrange(len(digests)), generator.uniform(0, 0.3))
            talk = whole(resuming)
            resumed = re.search(r"resumed: (\d+) runs? taken over", talk)
            now = outcome(out)
            one = Resumed(
                number, over, kept_runs, int(resumed[1]) if resumed else 0, now[0] == digests, now[1] == verdicts
            )
            print(one.row(), flush=True)
            found.append(one)
    return found


def kill(words: Sequence[str], out: Path, runs: int, seconds: float) -> tuple[bool, int]:
    """Start a command and kill it, with all that it has started, so much later than its log has so many runs: whether
    it was over by itself, and how many runs its log has then."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None and runs_in(out) < runs:
        time.sleep(0.02)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)
    over = process.poll() is not None
    if not over:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return over, runs_in(out)


def runs_in(out: Path) -> int:
    """How many runs the log of a campaign has."""
    log = out / "run.ndjson"
    return log.read_bytes().count(b'"line":"transcript"') if log.exists() else 0


def whole(words: Sequence[str]) -> str:
    """Let a command come to its end: what it prints on stderr."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stderr


def outcome(out: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The digest of each run, and each verdict, by name."""
    run = read_run(out / "run.ndjson")
    digests = {f"{line.adapter} {line.key}": line.digest for line in run.transcripts}
    verdicts = {f"{line.adapter} {line.requirement} {line.path}": str(line.verdict.status) for line in run.results}
    return digests, verdicts


if __name__ == "__main__":
    sys.exit(main())
