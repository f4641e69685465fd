"""A program of the user's machine that runs as a child process: where it is, what it may see, and how it ended.

What it says on stderr is for people, and often tells why it ended: the last of it is kept.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from turnproof.errors import UsageError

GRACE = 2.0
"""Seconds given to a program to end by itself before it is killed."""

_STDERR_BYTES = 4000
"""Bytes of stderr that are kept."""


_PASSED_ON = frozenset(
    {"PATH", "LANG", "LC_ALL", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"}
)


def find_program(program: str, install: str) -> str:
    """The path of a program, given by its name on PATH or by a path. `install` says how one gets it.

    Raises UsageError where there is none, or where it cannot be run.
    """
    path = shutil.which(program)
    if path is not None:
        return str(Path(path).absolute())  # it is run in another folder
    if Path(program).is_file():
        raise UsageError(f"{program} cannot be run: it is not executable")
    raise UsageError(f"there is no program {program!r}: install it ({install}), or say with `program` where it is")


def passed_environment() -> dict[str, str]:
    """All that a program sees of the caller's variables: no key of another service, nothing that changes its ways."""
    return {name: value for name, value in os.environ.items() if name.upper() in _PASSED_ON}


def start_error(program: str, folder: Path, error: OSError) -> UsageError:
    """The error for a program that could not be started in a folder."""
    where = f" in {folder}" if error.filename == folder else ""
    return UsageError(f"{program} cannot be run{where}: {error.strerror or error}")


class LastWords:
    """What a program said last on stderr. `scrub` makes it fit to be shown."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub
        self._stderr = b""

    def hear(self, piece: bytes) -> None:
        """Take what it says, in pieces of any size."""
        self._stderr = (self._stderr + piece)[-_STDERR_BYTES:]

    def __str__(self) -> str:
        """As it stands behind an error's own words; empty where nothing was said."""
        tail = self._stderr
        if len(tail) == _STDERR_BYTES:
            tail = tail.partition(b"\n")[2] or tail  # the first line is cut off
        text = tail.decode("utf-8", "replace").strip()
        return f"; on stderr: {self._scrub(text)}" if text else ""


def how_it_ended(code: int | None) -> str:
    """What became of a program that has said its last line: its exit code, negative for a signal; None for one that had
    to be ended."""
    if code is None:
        return "hung up without ending"
    return f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"
