"""Copies of an example project, each with more of its changes, and commands that run in them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


def run(folder: Path, *words: str, timeout: float = 550, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a project, with no setting of the example but these variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOM_")} | variables
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


def patch(folder: Path, change: Path, *options: str) -> None:
    """Apply a change to a project."""
    done = run(folder, "git", "apply", *options, str(change))
    assert done.returncode == 0, done.stderr


def copies_after(changes: Sequence[Sequence[Path]], example: Path, folder: Path) -> list[Path]:
    """The example by itself, and after each group of changes on top of those before it."""
    folders = [folder / str(number) for number in range(len(changes) + 1)]
    shutil.copytree(example, folders[0], ignore=shutil.ignore_patterns("__pycache__", "reports"))
    for before, after, group in zip(folders, folders[1:], changes, strict=False):
        shutil.copytree(before, after)
        for change in group:
            patch(after, change)
    return folders
