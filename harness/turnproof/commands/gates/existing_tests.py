"""The project's own tests as part of a gate: one command, run in the project's folder with the flag set."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...errors import UsageError

SHOWN_LINES = 30
_READ_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How a command ended.

    `code` is its exit status, negative for the signal that ended it, None where its time was up. `output` are its last
    lines, stdout and stderr as they came. `seconds` is how long it was given.
    """

    command: str
    code: int | None
    output: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0


def words_of(command: str) -> list[str]:
    """The words of a configured command. Raises UsageError for quotes that do not close, and for no word at all."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"gates: existing_tests = {command!r} cannot be split into words: {error}") from error
    if not words:
        raise UsageError(f"gates: existing_tests = {command!r} names no command")
    return words


def run_command(command: str, folder: Path, environment: Mapping[str, str | None], seconds: float) -> CommandRun:
    """Run a command to its end, without a shell, in `folder`, with these variables over those of this process; one
    that is None is not set.

    Raises UsageError when it cannot be started. When its time is up, or this process is interrupted, it is killed with
    all that it started.
    """
    words = words_of(command)
    unset = [word for name, value in environment.items() if value is None for word in ("env", "-u", name)]
    variables = {name: value for name, value in environment.items() if value is not None}
    command_line = shlex.join([*(f"{name}={value}" for name, value in variables.items()), *unset, *words])
    inherited = {name: value for name, value in os.environ.items() if name not in environment}
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                env={**inherited, **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(
                f"gates: existing_tests = {command!r} cannot be started in {folder}: {error.strerror or error}; "
                "it is run without a shell: give a program on PATH, or `sh -c '...'`"
            ) from error
        code = _wait(process, seconds)
        return CommandRun(command_line, code, _last_lines(output), seconds)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        _kill(process)
        return None
    except BaseException:
        _kill(process)
        raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    # It leads a session of its own, so its group is all that it started and nothing else.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_lines(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _READ_BYTES))
    return "\n".join(output.read().decode(errors="replace").splitlines()[-SHOWN_LINES:])
