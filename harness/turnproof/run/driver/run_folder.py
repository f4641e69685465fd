"""The folder that one run of an agent happens in, kept by the parent of all runs.

A worker may hang, die, or fail before its agent is open: whatever becomes of it, the folder and the processes that
stand in it are cleared away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .process_lifetime import as_soon_as_written, still_running

if TYPE_CHECKING:
    import psutil

_GRACE = 5.0
"""Seconds that a process has to be gone after it was killed."""


class RunFolder:
    """A new folder, until `clear`."""

    def __init__(self) -> None:
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="turnproof-"))

    def clear(self, *, orderly: bool) -> None:
        """Remove the folder; after a run that did not end in order also the processes that it has left there.

        An orderly run has looked for its processes itself. Does nothing the second time.
        """
        if not Path(self.root).is_dir():
            return
        if not orderly:
            with contextlib.suppress(ImportError):  # without psutil no agent was opened
                self._end_processes()
        shutil.rmtree(self.root, ignore_errors=True)

    def _end_processes(self) -> None:
        """Kill what stands in the folder. What a dead worker had started is nobody's child any more."""
        import psutil

        for one in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if one.pid != os.getpid() and self._is_home_of(one):
                    one.kill()
                    still_running([one], _GRACE)
                    one.wait(timeout=0)  # those that became ours

    def _is_home_of(self, process: psutil.Process) -> bool:
        """Whether a process works below the folder, or has its home there."""
        if Path(process.cwd()).is_relative_to(self.root):
            return True
        return Path(as_soon_as_written(process, process.environ).get("HOME", "")).is_relative_to(self.root)
