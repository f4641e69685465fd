"""stdout and stderr in whatever state the command was started with: closed, full, without a reader, or ASCII only."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from ..._base.workflow_commands import GuardedText

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def prepare(*, guarded: bool = False) -> None:
    """Make stdout and stderr writable with any text, and let `failure` know what could not be written.

    A stream that was closed before we started leads nowhere: otherwise the next file or socket would take its place and
    get our output. A stream that knows only ASCII gets `?` for a symbol, which always has its word beside it.
    `guarded` streams write nothing that GitHub's runner obeys (`workflow_commands`).
    """
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(descriptor, True)
        os.close(descriptor)
        sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
        sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
        sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    sys.stdout, sys.stderr = _watched(sys.stdout, guarded), _watched(sys.stderr, guarded)


def write_line(line: str) -> None:
    """Write a line to stderr. Nobody may be left to read it: `failure` tells so."""
    with suppress(OSError):
        print(line, file=sys.stderr)


def failure() -> OSError | None:
    """Write out what is buffered; why something could not be written, BrokenPipeError before anything else."""
    found: OSError | None = None
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
        buffer = getattr(stream, "buffer", None)
        if isinstance(buffer, _Output) and buffer.failure is not None and not isinstance(found, BrokenPipeError):
            found = buffer.failure
    return found


class _Output(io.BufferedWriter):
    """A buffer that remembers why it could not be written, and leads nowhere from then on.

    The error itself is raised once and may get lost on its way: rich makes an exit code of its own out of it, and
    Python complains again when it closes the stream. It is caught here and not in the file below: an interrupt that
    comes as a Python method of the file returns would have the buffer write the same bytes twice.
    """

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        if self.failure is not None:
            return memoryview(data).nbytes
        with self._remembered():
            return super().write(data)

    def flush(self) -> None:
        if self.failure is None:
            with self._remembered():
                super().flush()

    @contextmanager
    def _remembered(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            raise
        except OSError as error:
            self.failure = error
            raise


def _watched(stream: TextIO, guarded: bool) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # what a test put in its place
        return stream
    stream.reconfigure(errors="replace")
    buffer = stream.buffer
    # The console of Windows has another one.
    if isinstance(buffer, _Output):
        return stream
    if type(getattr(buffer, "raw", buffer)) is not io.FileIO:
        return stream
    stream.flush()
    kind = GuardedText if guarded else io.TextIOWrapper
    return kind(
        _Output(io.FileIO(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
