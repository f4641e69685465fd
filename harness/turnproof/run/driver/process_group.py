"""The processes of a worker: everything that a subject starts ends with it, and what it leaves running is counted.

A child that makes a session or a group of its own leaves the group. On Linux the worker adopts what such a child has
started, so that it is found as well; elsewhere only what stays in the group is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path

GRACE = 0.5
"""Seconds that a process has to end after the subject was shut down."""

_PAUSE = 0.01
_SET_CHILD_SUBREAPER = 36


def lead_group() -> None:
    """Make this process the leader of a new group, which ends as soon as the process that asked for us has ended.

    However that ended: nothing of a run outlives a command that was killed.
    """
    os.setpgid(0, 0)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), name="turnproof-parent", daemon=True).start()


def kill_group(leader: int) -> None:
    """Kill the leader and everything in its group. Does nothing where none of it is left."""
    for kill in (os.killpg, os.kill):  # a leader that has just started has no group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(leader, signal.SIGKILL)


def end_children() -> tuple[str, ...]:
    """The names of this process's descendants that go on running, sorted; they are killed. Linux alone tells them."""
    until = time.monotonic() + GRACE
    while (running := _running_children()) and time.monotonic() < until:
        time.sleep(_PAUSE)
    names: list[str] = []
    while running:
        for child, name in running.items():
            names.append(name)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)
        running = _running_children()  # this process has inherited their children
    return tuple(sorted(names))


def _running_children() -> dict[int, str]:
    """Our children that have not ended, by their process ids. The standard library's own tracker is none of theirs."""
    tracker = getattr(resource_tracker._resource_tracker, "_pid", None)
    found: dict[int, str] = {}
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                name, _, rest = Path(f"/proc/{child}/stat").read_text().partition("(")[2].rpartition(")")
                if child != tracker and rest.split()[0] not in "ZX":
                    found[child] = name
    return found


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os.killpg(0, signal.SIGKILL)
