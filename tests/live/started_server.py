"""Servers that others wrote, as processes of their own on a free port of loopback."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

END_LIMIT = 20.0
"""Seconds in which a server ends when it is told to; then it is killed."""


@contextmanager
def started(
    command: Callable[[int], Sequence[str]], log: Path, is_ready: Callable[[int], bool], start_limit: float
) -> Iterator[str]:
    """Run the command for a port until the block ends: its address. What it prints goes into the log.

    Raises RuntimeError, with the log, where it ends early, or is not ready after `start_limit` seconds.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("w") as out, subprocess.Popen(command(port), stdout=out, stderr=subprocess.STDOUT) as server:
        try:
            end = time.monotonic() + start_limit
            while not is_ready(port):
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the server did not start; it printed:\n{log.read_text(errors='replace')}")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(END_LIMIT)
            except subprocess.TimeoutExpired:
                server.kill()
