"""The process that a run lives in: it takes jobs from the parent, one at a time, until the line closes.

What the adapter prints is captured at the file descriptors, so that C code and child processes are caught too;
logs are captured at level DEBUG. Both, and every exception's text, are searched for the canary key.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection

import msgspec

from ..._base.secrets import environment_keys
from ...errors import TurnproofError
from ...subject import Subject
from ...wire.emulator.server_run import CANARY_KEY
from ..bindings import resolve_subject
from ..tracebacks import text_of
from ..transcript import RunEnded
from .drive import drive
from .job import Job
from .mutation import mutated
from .ownership import owners_of
from .parent_channel import Control, ControlLost
from .recorder import Recorder

_find_once = cache(resolve_subject)


def main(
    conn: Connection,
    import_path: list[str],
    preload: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> None:
    """Entry of a worker process. One that is forked gets the parent's `environment`; one that is spawned has it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act on
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
    sys.path[:] = import_path
    control = Control(conn)
    capture = DescriptorCapture()
    for name in preload:
        with contextlib.suppress(Exception):  # whatever is wrong with it, the first run that needs it will say
            import_module(name)
    while (job := control.next_job.get()) is not None:
        try:
            ended = execute(job, control, capture)
        except ControlLost:
            break
        control.notify("done", ended)
    os._exit(0)  # an adapter's stray non-daemon thread must not keep the worker alive


def execute(
    job: Job,
    control: Control,
    capture: DescriptorCapture | StreamCapture,
    find: Callable[[str], Subject] = _find_once,
) -> RunEnded:
    """Run one job with output and logs captured; the canary's hiding places are named in the result."""
    # A second run measures noise; its logs were searched in the first one, and writing them is a tenth of a run.
    with _captured_logs(enabled=job.key.repeat == 0) as logs, capture.active():
        recorder = Recorder(control, secrets=(job.api_key, *environment_keys()))
        try:
            subject = find(job.adapter)
            recorder.owners = owners_of(subject)
            ended = drive(job, mutated(subject, job.mutant), recorder)
        except ControlLost:
            raise
        except TurnproofError as error:
            ended = RunEnded(how="open-failed", detail=_line(error), raised=recorder.raised(error))
        except BaseException as error:
            logging.getLogger(__name__).exception("the driver failed")
            ended = RunEnded(how="harness-fault", detail=_line(error), raised=recorder.raised(error))
    printed = capture.text()
    leaks = [name for name, text in (("stdout", printed), ("log", logs.getvalue())) if CANARY_KEY in text]
    return msgspec.structs.replace(ended, stdout=printed[-4000:].replace(CANARY_KEY, "[key]"), leaks=tuple(leaks))


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {text_of(error)}"


@contextlib.contextmanager
def _captured_logs(*, enabled: bool) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    if not enabled:
        yield stream
        return
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


class DescriptorCapture:
    """Everything written to file descriptors 1 and 2 while active."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(mode="w+b")  # noqa: SIM115 (lives as long as the worker)
        self._start = 0
        os.dup2(self._file.fileno(), 1)
        os.dup2(self._file.fileno(), 2)

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        self._start = self._file.seek(0, os.SEEK_END)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    def text(self) -> str:
        self._file.seek(self._start)
        return self._file.read().decode(errors="replace")


class StreamCapture:
    """`sys.stdout` while active, for runs inside the parent process."""

    def __init__(self) -> None:
        self._stream = io.StringIO()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with contextlib.redirect_stdout(self._stream):
            yield

    def text(self) -> str:
        return self._stream.getvalue()
