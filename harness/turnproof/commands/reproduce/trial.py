"""A file is run with some Python, and what it says."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

LIMIT = 60.0
"""Seconds that a file may take."""

_DEFECT, _NO_DEFECT = "DEFECT: ", "gone: "


@dataclass(frozen=True)
class Trial:
    """What a file said. `shown` says that it shows the defect, `is_gone` that it shows that there is none; neither
    is so where the file could not be run to its end."""

    exit_code: int
    output: str

    @property
    def shown(self) -> bool:
        return self.exit_code == 1 and any(line.startswith(_DEFECT) for line in self.output.splitlines())

    @property
    def is_gone(self) -> bool:
        return self.exit_code == 0 and any(line.startswith(_NO_DEFECT) for line in self.output.splitlines())

    @property
    def sentence(self) -> str:
        """The line with the result (`DEFECT: …` or `gone: …`); without one, the last line of the output."""
        lines = self.output.strip().splitlines() or ["nothing was written"]
        return next((line for line in lines if line.startswith((_DEFECT, _NO_DEFECT))), lines[-1])


def try_file(python: Path, file: Path, paths: tuple[str, ...]) -> Trial:
    """Run a file with an interpreter. `paths` are folders in which it finds modules beside those installed.

    Whatever proxies and keys this process has in its environment, the file has none of them.
    """
    variables = ("PATH", "HOME", "LANG", "SYSTEMROOT", "TMPDIR", "XDG_CACHE_HOME")
    environment = {name: os.environ[name] for name in variables if name in os.environ}
    environment |= {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
    try:
        done = subprocess.run(
            [str(python), str(file)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Trial(-1, f"no end within {LIMIT:.0f} s")
    return Trial(done.returncode, done.stdout + done.stderr)
