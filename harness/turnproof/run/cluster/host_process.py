"""What a cluster's worker does: it hands each batch to a process of ours beside it, and the answer back.

These functions are all that the cluster ever calls. They take bytes and return bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from multiprocessing.connection import Connection

from .jobs import LostProcess, Ready, answer_of, encoded

START_LIMIT = 120.0
"""Seconds that a process may take to import turnproof and to look what this machine has."""

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[2]); "
    "from turnproof.run.cluster.host import main; main(int(sys.argv[1]))"
)


async def check(setup: bytes) -> bytes:
    """What of this worker differs from the machine of the command."""
    return await asyncio.to_thread(_check, setup)


def run_batch(setup: bytes, batch: bytes) -> bytes:
    """Make the runs of a batch."""
    return _with_host(setup, batch)


def _check(setup: bytes) -> bytes:
    return _with_host(setup, None)


def _with_host(setup: bytes, batch: bytes | None) -> bytes:
    """Ask a process that serves this setup, which then serves the next batch; without a batch, what it is ready for."""
    try:
        host = _take(setup)
    except (EOFError, OSError) as error:
        return encoded(LostProcess(f"the process for its runs did not start ({type(error).__name__}: {error})"))
    if batch is None or host.differs:
        ready = host.ready
        _give_back(host)
        return ready
    try:
        answer = host.ask(batch)
    except (EOFError, OSError) as error:
        host.end()
        return encoded(LostProcess(f"the process of its runs ended ({type(error).__name__})"))
    _give_back(host)
    return answer


class _Host:
    """A process that makes the runs of one setup, one batch at a time."""

    def __init__(self, setup: bytes) -> None:
        self.setup = setup
        ours, theirs = multiprocessing.Pipe()
        self._line: Connection = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(sys.path)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            ours.send_bytes(setup)
            if not ours.poll(START_LIMIT):
                raise OSError(f"no word for {START_LIMIT:g} s")
            self.ready = ours.recv_bytes()
        except BaseException:
            self.end()
            raise
        answer = answer_of(self.ready)
        self.differs = isinstance(answer, Ready) and bool(answer.differences)

    def ask(self, batch: bytes) -> bytes:
        """The answer to a batch. Raises EOFError or OSError where the process ends."""
        self._line.send_bytes(batch)
        return self._line.recv_bytes()

    def is_running(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, with all that it has started."""
        self._line.close()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=5)


_idle: list[_Host] = []
_lock = threading.Lock()


def _take(setup: bytes) -> _Host:
    """A process that waits for a batch of this setup."""
    with _lock:
        over = [host for host in _idle if not host.is_running()]
        _idle[:] = [host for host in _idle if host not in over]
        chosen = next((host for host in _idle if host.setup == setup), None)
        if chosen is not None:
            _idle.remove(chosen)
    for host in over:
        host.end()
    return chosen or _Host(setup)


def _give_back(host: _Host) -> None:
    with _lock:
        if not host.differs:
            _idle.append(host)
            return
    host.end()


async def forget(setup: bytes) -> None:
    """Let the processes of a command that is over end. They end by themselves as well, later."""
    with _lock:
        over = [host for host in _idle if host.setup == setup]
        _idle[:] = [host for host in _idle if host.setup != setup]
    for host in over:
        threading.Thread(target=host.end, name="turnproof-end").start()
