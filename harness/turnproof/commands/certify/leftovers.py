"""What subjects leave behind in their runs: counted while runs end, reported when all are over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..._base.counts import counted
from ...run.transcript import RunEnded

_FEW = 3
"""Up to so many files are named."""


class Leftovers:
    """What each subject has left behind, over all of its runs. Everything but threads of in-process runs was cleared
    away."""

    def __init__(self) -> None:
        self._processes: dict[str, Counter[str]] = {}
        self._threads: dict[str, Counter[str]] = {}
        self._files: dict[str, Counter[str]] = {}

    def add(self, subject: str, end: RunEnded) -> None:
        """Count what one run of a subject has left."""
        if end.processes_left:
            self._processes.setdefault(subject, Counter()).update(end.processes_left)
        if end.threads_left:
            self._threads.setdefault(subject, Counter()).update(threads=end.threads_left, runs=1)
        if end.files_left:
            self._files.setdefault(subject, Counter()).update(end.files_left)

    def sentences(self) -> Iterator[str]:
        """One sentence for each subject and kind of leftover."""
        for subject, processes in self._processes.items():
            names = ", ".join(sorted(processes))
            yield f"{subject} left {counted(processes.total(), 'process')} running ({names}); they were ended"
        for subject, threads in self._threads.items():
            number, runs = counted(threads["threads"], "thread"), counted(threads["runs"], "run")
            yield f"{subject} left {number} running after {runs}; their worker processes were replaced"
        for subject, files in self._files.items():
            named = ", ".join(sorted(files)[:_FEW]) + (", ..." if len(files) > _FEW else "")
            yield f"{subject} left {counted(files.total(), 'file')} behind ({named}); they were removed"
