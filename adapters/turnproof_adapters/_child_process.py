"""A program as a child process: lines go in, lines come out, and when it is ended nothing of it is left.

It leads a process group of its own, so that what it starts ends with it. Its output is read by a thread, so that it
never waits for us; lines may be of any length. What it says on stderr is for people: the end of it is kept for errors.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import selectors
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from turnproof.errors import TransportError

from ._interrupt import Line, current_cut
from ._program import GRACE, LastWords, how_it_ended, start_error

_PIECE = 1 << 16
"""What a pipe holds: one read empties it."""


class ChildLost(TransportError):
    """The program ended, or fell silent, before it had said all."""


class Child(Line):
    """One run of a program, until `end`. Serves one thread; `shut` and `kill` may come from another.

    It counts as lost when it is waited for and says, or reads, nothing for `silence` seconds. A call that is in force
    in the calling thread owns the child: when it is cut, the child is killed. One that goes on with it later has to
    `take_up` the child.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        silence: float,
        scrub: Callable[[str], str] = str,
    ) -> None:
        """Start it. `scrub` makes what it says on stderr fit to be shown. Raises UsageError where there is no such
        program, or none that can be run, CutOff if the call in force was cut before."""
        self.name = Path(command[0]).name
        self.broke_off = False
        """Whether its output has ended in the middle of a line."""
        self.silence = silence
        """Seconds that it may be silent; may be set anew."""
        self.watch: Callable[[bytes], object] | None = None
        """Is told every line as soon as it arrives, in the reader's thread, whoever takes it when. May be set."""
        self.last_words = LastWords(scrub)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unfinished_line: list[bytes] = []
        super().__init__()
        self._killed = False
        self._how: str | None = None
        self._ear, self._hand = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
            )
        except BaseException as error:
            self._ear.close()
            self._hand.close()
            if not isinstance(error, OSError):
                raise
            raise start_error(command[0], folder, error) from None
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"{self.name}-lines")
        try:
            self._reader.start()
            self.take_up()
        except BaseException:
            self.end(grace=0)
            raise

    def take_up(self) -> None:
        """The call in force in the calling thread goes on with it. Raises CutOff if that was cut before."""
        cut = current_cut()
        if cut is not None:
            cut.use_line(self, writes=False)

    # -- lines ----------------------------------------------------------------------------------------------------

    def write(self, line: bytes, *, asks: bool = False) -> None:
        """Write a line. `asks` says that this is the request itself, and not the way to it.

        Raises ChildLost if the program is gone or does not read, CutOff if the call was cut before it asked.
        """
        cut = current_cut()
        if cut is not None and asks:
            cut.use_line(self, writes=True)
        left = memoryview(line + b"\n")
        try:
            stdin = _pipe(self._process.stdin).fileno()
            room = select.poll()
            room.register(stdin, select.POLLOUT)
            while left:
                # A pipe takes as much as there is room for once it is ready, if no more than a piece is offered.
                if not room.poll(self.silence * 1000):
                    raise ChildLost(f"{self.name} has read nothing for {self.silence:g} s{self.last_words}")
                left = left[os.write(stdin, left[: select.PIPE_BUF]) :]
        except (BrokenPipeError, ValueError):  # the program has closed its input, or we have
            raise self.loss() from None

    def lines(self) -> Iterator[bytes]:
        """Its lines, without the blank ones and their ends, to the end of its output.

        Raises ChildLost where it falls silent. Ends early if the call was cut, and after `end`, with what had arrived.
        """
        while (line := self._next()) is not None:
            if line.strip():
                yield line

    def _next(self) -> bytes | None:
        try:
            line = self._lines.get(timeout=self.silence)
        except queue.Empty:
            raise ChildLost(f"{self.name} has said nothing for {self.silence:g} s{self.last_words}") from None
        if line is None:
            self._lines.put(None)  # the end stays the end, whoever asks again
        return line

    def loss(self) -> ChildLost:
        """End it, for an output that ended too soon. The error says how it ended, and what it said last on stderr."""
        by_itself = self._leaves_within(GRACE)
        code = self.end(grace=0)
        if self._how is None:  # asked again, it would seem to have ended by itself
            self._how = how_it_ended(code if by_itself else None)
        return ChildLost(f"{self.name} {self._how} in the middle of its answer{self.last_words}")

    # -- its end --------------------------------------------------------------------------------------------------

    def end(self, *, grace: float = GRACE) -> int:
        """End it and all of its process group; its exit code, negative for a signal. May be called again.

        Its input is closed, and it may end by itself for `grace` seconds. What it has started in a session of its own
        is out of reach, and not waited for.
        """
        try:
            self._leaves_within(grace)
        finally:
            with self._lock:
                self._kill()
                self._killed = True
            code = self._process.wait()
            self._hush()
            self._hand.close()
            if self._reader.is_alive():
                self._reader.join()
        return code

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself, or was ended."""
        return self._process.poll() is not None

    def _leaves_within(self, seconds: float) -> bool:
        _pipe(self._process.stdin).close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self) -> None:
        # The group is there as long as any of its processes is, also when the program itself has been waited for. When
        # all are gone its number may be another's.
        if not self._killed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _hush(self) -> None:
        """Have the reader take what has been said so far, and stop. Forked copies of the socket cannot prevent it."""
        with contextlib.suppress(OSError):
            self._hand.shutdown(socket.SHUT_RDWR)

    # -- as what a cut ends ---------------------------------------------------------------------------------------

    def kill(self) -> None:
        """Kill it, from whatever thread: whoever reads its lines finds their end. Does nothing after `end`."""
        with self._lock:
            self._end_from_outside()

    def _end_from_outside(self) -> None:
        if not self._killed:
            self._kill()
            self._hush()

    # -- the reader's thread --------------------------------------------------------------------------------------

    def _read(self) -> None:
        stdout, stderr = _pipe(self._process.stdout), _pipe(self._process.stderr)
        takers = {stdout: self._take_lines, stderr: self.last_words.hear}
        with self._ear, stdout, stderr, selectors.PollSelector() as selector:
            selector.register(self._ear, selectors.EVENT_READ)
            for pipe in takers:
                selector.register(pipe, selectors.EVENT_READ)
            hushed = False
            while takers and not hushed:
                ready = [key.fileobj for key, _ in selector.select()]
                if self._ear in ready:
                    # Looked at again: what was said before the hush may have come after this look at the pipes.
                    hushed, ready = True, [key.fileobj for key, _ in selector.select(0)]
                for pipe, take in list(takers.items()):
                    if pipe in ready:
                        piece = pipe.read(_PIECE)
                        take(piece)
                        if not piece:
                            selector.unregister(pipe)
                            del takers[pipe]
        if stdout in takers:
            self._take_lines(b"")

    def _take_lines(self, piece: bytes) -> None:
        if not piece:
            rest = b"".join(self._unfinished_line)
            self.broke_off = bool(rest.strip())
            self._lines.put(rest)
            self._lines.put(None)
            return
        *whole, rest = piece.split(b"\n")
        for line in whole:
            whole_line = b"".join([*self._unfinished_line, line])
            self._unfinished_line.clear()
            self._lines.put(whole_line)
            if self.watch is not None:
                self.watch(whole_line)
        self._unfinished_line.append(rest)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
