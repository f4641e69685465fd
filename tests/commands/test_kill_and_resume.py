"""Commands that are killed at random moments and gone on with: they come to what an unbroken one comes to."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

KILLS = 5
COMMANDS = {
    "compare": ("anthropic", "--scenario", "tools/*"),
    "explore": ("anthropic", "-n", "25"),
    "gate": ("--phase", "1", "--scenario", "tools/*"),
    "handoff": ("anthropic", "google_genai"),
    "mutants": ("anthropic", "--only", "result-*", "--only", "text-*"),
}


def words(command: str, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "turnproof", command, *COMMANDS[command], "--json", "--out", str(out), *more]


def shown(text: str) -> Any:
    """What a command prints as JSON, without when that was and how long it took."""
    found = json.loads(text)
    for volatile in ("started", "duration_s"):
        found.pop(volatile, None)
    return json.loads(json.dumps(found).replace("resumed/", "unbroken/"))


def whole(command: str, out: Path, *more: str) -> tuple[int, Any, str]:
    done = subprocess.run(words(command, out, *more), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.returncode, shown(done.stdout), done.stderr


def runs_in(out: Path) -> int:
    """How many runs a command has kept."""
    logs = [*out.glob("*.kept/**/runs.ndjson"), *out.glob("run.ndjson"), *out.glob("resumed.ndjson")]
    return sum(file.read_bytes().count(b"\n") for file in logs)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_was_killed_again_and_again_comes_to_the_same(command: str, tmp_path: Path) -> None:
    code, expected, _ = whole(command, tmp_path / "unbroken")
    generator, out = random.Random(command), tmp_path / "resumed"
    for _ in range(KILLS):
        process = subprocess.Popen(
            words(command, out, "--resume"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        before, more = runs_in(out), generator.choice((0, 1, 3, 6))
        while process.poll() is None and runs_in(out) - before < more:
            time.sleep(0.05)
        time.sleep(generator.uniform(0, 0.5))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    again, found, talk = whole(command, out, "--resume")
    assert (again, found) == (code, expected)
    taken_over = re.search(r"resumed: (\d+) runs? taken over", talk)
    assert taken_over is not None
    assert int(taken_over[1]) > 0
    assert not [one for one in out.iterdir() if one.name.endswith(".kept")]
