"""Tests that fork: in a process of their own, since one with the threads of other tests is none to be forked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def assert_passes_alone(file: str, *, passed: int) -> None:
    """So many tests of `file`, a path below tests/, pass, and none fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", str(TESTS / file)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert f"\n{passed} passed" in done.stdout, done.stdout[-2000:]
