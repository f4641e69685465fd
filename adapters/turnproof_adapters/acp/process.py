"""The program as a child process that messages go to and come from: one JSON text a line, of any length.

It leads a process group of its own. When it is ended, or ends by itself, nothing of the group is left, nor of what it
has started outside of it. The end of what it says on stderr is kept for errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from turnproof.errors import TransportError

from .._program import GRACE, LastWords, how_it_ended, start_error

_log = logging.getLogger(__name__)

_PIECE = 1 << 16

_LOOK = 0.02
"""Seconds between two looks at whether what the program has started is gone."""


class Process:
    """One run of a program; as the `acp` package's transport it moves messages. Belongs to one event loop."""

    def __init__(self, process: asyncio.subprocess.Process, name: str, scrub: Callable[[str], str]) -> None:
        self.name = name
        self._process = process
        self.last_words = LastWords(scrub)
        self._unfinished_line: list[bytes] = []
        self._lines: list[bytes] = []
        self._started: set[psutil.Process] = set()
        self._over = False
        self.on_end: Callable[[], None] = _nothing
        """Called when it has ended."""
        self._ears = asyncio.create_task(self._listen())
        self._watch = asyncio.create_task(self._outlive())

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], folder: Path, scrub: Callable[[str], str]
    ) -> Process:
        """Start it. Raises UsageError where it cannot be run."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise start_error(command[0], folder, error) from None
        return cls(process, Path(command[0]).name, scrub)

    @property
    def pid(self) -> int:
        """Its number, and that of its group."""
        return self._process.pid

    # -- as a transport -------------------------------------------------------------------------------------------

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. Raises ConnectionError if the program is gone."""
        stdin = self._process.stdin
        assert stdin is not None
        if stdin.is_closing():
            raise ConnectionError(f"{self.name} is gone")
        stdin.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        await stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Its next message; None at the end of its output. A line that is no message is passed over."""
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            while self._lines:
                message = _message(self._lines.pop(0))
                if message is not None:
                    return message
            piece = await stdout.read(_PIECE)
            if not piece:
                return None
            *whole, rest = piece.split(b"\n")
            for line in whole:
                self._lines.append(b"".join([*self._unfinished_line, line]))
                self._unfinished_line.clear()
            self._unfinished_line.append(rest)

    async def close(self) -> None:
        """Nothing: the process is ended by `end`."""

    # -- its end --------------------------------------------------------------------------------------------------

    async def loss(self) -> TransportError:
        """End it, for an output that ended too soon. The error says how it ended, and what it said last on stderr."""
        by_itself = await self._leaves_within(GRACE)
        code = await self.end(0)
        return TransportError(f"{self.name} {how_it_ended(code if by_itself else None)}{self.last_words}")

    async def end(self, grace: float = GRACE, *, ask: bool = False) -> int:
        """End it, its group, and what it has started; its exit code, negative for a signal. May be called again.

        Its input is closed, and it has `grace` seconds to end by itself; `ask` says that it does so only at a SIGTERM.
        """
        self._note_started()
        if grace and not await self._leaves_within(0 if ask else grace / 2):
            self._signal(signal.SIGTERM)
            await self._leaves_within(grace / 2)
        self._signal(signal.SIGKILL)
        self._over = True
        code = await self._process.wait()
        await self._settle()
        return code

    def kill(self) -> None:
        """Kill all of it, without waiting."""
        self._note_started()
        self._signal(signal.SIGKILL)

    async def _settle(self) -> None:
        self._watch.cancel()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._ears), GRACE)
        await self._started_are_gone(asyncio.get_running_loop().time() + GRACE)
        self._ears.cancel()
        await asyncio.gather(self._ears, self._watch, return_exceptions=True)
        # Not closed by itself while somebody else holds the other end of a pipe.
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    async def _leaves_within(self, seconds: float) -> bool:
        """Close its input, and wait for it and for all that it has started."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            await asyncio.wait_for(asyncio.shield(self._process.wait()), seconds)
        except TimeoutError:
            return False
        return await self._started_are_gone(deadline)

    async def _started_are_gone(self, deadline: float) -> bool:
        """Wait for all that it has started. A process that was killed is there for a moment more."""
        while any(_is_there(each) for each in self._started):
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(_LOOK)
        return True

    async def _outlive(self) -> None:
        """When it has ended, end what it has started: its output would stay open as long as one of those holds it."""
        await asyncio.shield(self._process.wait())
        self.on_end()
        await asyncio.sleep(GRACE / 4)
        self._signal(signal.SIGKILL)

    def _note_started(self) -> None:
        with contextlib.suppress(psutil.Error):
            self._started.update(psutil.Process(self.pid).children(recursive=True))

    def _signal(self, number: signal.Signals) -> None:
        if self._over:
            return  # the group's number may be another's
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
        for each in self._started:
            with contextlib.suppress(psutil.Error):
                each.send_signal(number)  # it looks whether the number is still the same process's

    async def _listen(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while piece := await stderr.read(_PIECE):
            self.last_words.hear(piece)


def _nothing() -> None:
    pass


def _message(line: bytes) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("error", {}), dict):
        _log.debug("a line that is none of the protocol: %r", line[:200])
        return None
    return message


def _is_there(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
