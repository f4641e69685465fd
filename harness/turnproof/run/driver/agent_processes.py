"""The processes that a run's agent has started: found among our descendants, killed where the scenario says so, and
counted when all should be over."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ...errors import HarnessError
from .process_lifetime import as_soon_as_written, runs, still_running

if TYPE_CHECKING:
    import psutil

GRACE = 5.0
"""Seconds that processes have to be gone after the agent was shut down."""


class Processes:
    """Those that are there beside the ones that were before."""

    def __init__(self) -> None:
        try:
            import psutil
        except ImportError as error:
            raise HarnessError("agents are watched with psutil: pip install 'turnproof[agents]'") from error
        self._psutil = psutil
        self._before = set(psutil.Process().children(recursive=True))
        self._seen: dict[psutil.Process, str] = {}
        self._exposed: set[psutil.Process] = set()
        self._mute: set[psutil.Process] = set()

    def look(self, secret: str) -> list[psutil.Process]:
        """Those that are running now. Each is remembered, by its name, and whether its command line has the secret."""
        running = [one for one in self._psutil.Process().children(recursive=True) if one not in self._before]
        for one in running:
            with contextlib.suppress(self._psutil.Error):
                self._seen.setdefault(one, one.name())
                if any(secret in word for word in self._command_line(one)):
                    self._exposed.add(one)
                self._seen[one] = one.name()  # before its program was there, that of whoever has started it
        return [one for one in running if runs(one)]

    def kill(self, secret: str) -> int:
        """Kill them all at once: none lives to see another one's end, or to start one more. How many there were."""
        stopped: list[psutil.Process] = []
        # One that waits for the system stands still, too: its child may have been stopped before it had its program.
        still = (self._psutil.STATUS_STOPPED, self._psutil.STATUS_DISK_SLEEP)
        while running := [one for one in self.look(secret) if one not in stopped]:
            for one in running:
                with contextlib.suppress(self._psutil.Error):
                    one.suspend()
            still_running(running, GRACE, *still)  # one that is about to start another has started it then
            stopped += running
        for one in stopped:
            with contextlib.suppress(self._psutil.Error):
                one.kill()
        still_running(stopped, GRACE)
        return len(stopped)

    def kill_remaining(self, secret: str) -> tuple[str, ...]:
        """The names of those that are still running after a while; they are then killed."""
        names = tuple(sorted(self._seen.get(one, "?") for one in still_running(self.look(secret), GRACE)))
        if names:
            self.kill(secret)
        self._reap()
        return names

    @property
    def started(self) -> int:
        """How many were seen."""
        return len(self._seen)

    @property
    def exposed(self) -> tuple[str, ...]:
        """The names of those in whose command line the secret stood."""
        return tuple(sorted({self._seen[one] for one in self._exposed}))

    def _command_line(self, process: psutil.Process) -> list[str]:
        """Its words. One that was waited for in vain is not waited for again."""
        words = process.cmdline() if process in self._mute else as_soon_as_written(process, process.cmdline)
        if not words:
            self._mute.add(process)
        return words

    def _reap(self) -> None:
        """Take leave of those that became ours and have ended."""
        for one in self._seen:
            with contextlib.suppress(self._psutil.Error):
                one.wait(timeout=0)
