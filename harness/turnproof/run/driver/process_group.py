"""The processes of a worker: everything that a subject starts ends with it, and what it leaves running is counted.

A child that makes a session or a group of its own leaves the group. On Linux the worker adopts what such a child has
started, so that it is found as well; elsewhere only what stays in the group is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import shutil
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
_MOST_SECONDS = 5.0
_SET_CHILD_SUBREAPER = 36


def lead_group(ends_with: str) -> None:
    """Make this process the leader of a new group, which ends as soon as the process that asked for us has ended.

    However that ended: nothing of a run outlives a command that was killed, nor does the folder `ends_with`.
    """
    os.setpgid(0, 0)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(
            target=_end_with, args=(parent.sentinel, ends_with), name="turnproof-parent", daemon=True
        ).start()


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


def end_processes_in(folder: str) -> None:
    """Kill every process that works below the folder, or was started with a variable that names it. Linux alone.

    So whatever a worker had started is found after the worker has ended, in whatever session it is. Gives up on what
    cannot be killed (it waits inside the system, say) after some seconds.
    """
    if sys.platform != "linux":
        return
    end = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < end and (found := [one for one in _processes() if _belongs_to(one, folder)]):
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE)


def descendants(process: int) -> list[int]:
    """The process ids of what a process has started, and of what that has. Empty where the system does not tell."""
    found: list[int] = []
    for thread in threads_of(process):
        with contextlib.suppress(OSError):
            found += map(int, read_fields(f"/proc/{process}/task/{thread}/children"))
    return found + [below for child in found for below in descendants(child)]


def threads_of(process: int) -> list[str]:
    """The ids of a process's threads. Empty where the system does not tell, or the process has ended."""
    try:
        return os.listdir(f"/proc/{process}/task")  # noqa: PTH208 (`Path` takes ten times as long)
    except OSError:
        return []


def read_fields(file: str) -> list[bytes]:
    """What stands in a file of the system's, by words. Raises OSError where there is none.

    A silent run is looked at several times a second, when the machine is busy: it must not be made busier by that.
    """
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return os.read(descriptor, 65_536).split()
    finally:
        os.close(descriptor)


def limit_memory(size: int) -> None:
    """Let this process and each that it starts have no more data than `size` bytes.

    Data is what can be written and is not shared: what a program reserves without using it, as node does, is free.
    """
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid()]  # noqa: PTH208


def _belongs_to(process: int, folder: str) -> bool:
    with contextlib.suppress(OSError):
        if " Z " in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2][:4]:
            return False
        working = os.readlink(f"/proc/{process}/cwd").removesuffix(" (deleted)")  # noqa: PTH115
        if working == folder or working.startswith(f"{folder}/"):
            return True
        return folder.encode() in Path(f"/proc/{process}/environ").read_bytes()
    return False


def _end_with(sentinel: int, folder: str) -> None:
    wait([sentinel])
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
