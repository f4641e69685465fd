"""`turnproof` as a user runs it: in a process of its own, which can be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def run_turnproof(folder: Path, *words: str, modules: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a command has done in a folder, whatever its exit code. It can import what is in the folder `modules`."""
    return subprocess.run(
        [sys.executable, "-m", "turnproof", *words],
        cwd=folder,
        env=_environment(modules),
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


def start_turnproof(folder: Path, *words: str, modules: Path) -> subprocess.Popen[str]:
    """A command that runs in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "turnproof", *words],
        cwd=folder,
        env=_environment(modules),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """End a command as Ctrl-C does. It says so, and its exit code is 130."""
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    assert talk.rstrip().endswith("exit 130: interrupted")


def _environment(modules: Path | None) -> dict[str, str]:
    found = {**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"}
    return found if modules is None else {**found, "PYTHONPATH": str(modules)}
