"""A worker's process group: everything that a subject starts is in it, and ends with it.

A child that makes a session or a group of its own leaves it; what is found of those is told as left behind.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import wait


def lead_group() -> None:
    """Make this process the leader of a new group, which ends as soon as the process that asked for us has ended.

    However that ended: nothing of a run outlives a command that was killed.
    """
    os.setpgid(0, 0)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), name="turnproof-parent", daemon=True).start()


def kill_group(leader: int) -> None:
    """Kill the leader and everything in its group. Does nothing where none of it is left."""
    for kill in (os.killpg, os.kill):  # a leader that has just been born has no group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(leader, signal.SIGKILL)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os.killpg(0, signal.SIGKILL)
