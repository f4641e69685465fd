"""Whole Python processes, measured from outside: CPU time with everything that they start, and wall time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....errors import ProviderError


@dataclass(frozen=True, slots=True)
class FinishedProcess:
    """What a process took, in seconds, and what it said on stdout."""

    cpu: float
    wall: float
    stdout: str


def run(
    words: Sequence[str], *, python: str = sys.executable, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> FinishedProcess:
    """A Python with these arguments. Raises ProviderError, with the end of what it said, for an exit code but 0."""
    start, before = time.perf_counter(), _children()
    done = subprocess.run(
        [python, *words], cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        output = " ".join((done.stderr or done.stdout).split())
        raise ProviderError(f"{' '.join(words[:3])} ended with exit code {done.returncode}: {output[-400:]}")
    return FinishedProcess(_children() - before, time.perf_counter() - start, done.stdout)


def _children() -> float:
    # Not on every system, and finer than `os.times()`.
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
