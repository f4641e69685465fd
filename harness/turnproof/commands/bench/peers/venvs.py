"""Virtual environments for peers, made once and kept under the user's cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zlib import crc32

from ....errors import ProviderError

_READY = "turnproof-ready"
"""Written last: an environment without it was never finished."""

_LONGEST_NAME = 120


def cache_folder() -> Path:
    """Where they are kept: `turnproof/peers` under XDG_CACHE_HOME, or under `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "turnproof" / "peers"


def python_with(package: str, *, again: bool = False) -> Path:
    """A Python of this version that has the package (or several, with spaces between), installed with pip if it is not
    there yet, or `again`.

    Raises ProviderError where that fails, with the end of what pip said.
    """
    words = re.sub(r"[^a-z0-9]+", "-", package.lower()).strip("-")
    if len(words) > _LONGEST_NAME:
        words = f"{words[:_LONGEST_NAME]}-{crc32(package.encode()):08x}"
    name = f"{words}-{sys.version_info[0]}.{sys.version_info[1]}"
    folder = cache_folder() / name
    python = folder / "bin" / "python"
    if again or not (folder / _READY).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run(package, [sys.executable, "-m", "venv", str(folder)])
        _run(package, [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *package.split()])
        (folder / _READY).write_text(package, "utf-8")
    return python


def _run(package: str, words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        output = " ".join((done.stderr or done.stdout).split())
        raise ProviderError(f"{package} could not be installed: {output[-300:]}")
