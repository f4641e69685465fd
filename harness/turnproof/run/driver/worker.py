"""The process that a run lives in: it takes jobs from the parent, one at a time, until the line closes.

What the adapter prints is captured at the file descriptors, so that C code and child processes are caught too,
standard output and standard error apart. Logs are captured at the levels that the adapter finds, but for scenarios
whose application debugs. All of it, and every exception's text, is searched for the canary key.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection

import msgspec

from ..._base.secrets import environment_secrets, mask, secret_in
from ...errors import TurnproofError
from ...subject import Subject
from ...wire.emulator.server_run import CANARY_KEY
from ..bindings import resolve_subject
from ..project_folder import set_project_folder
from ..tracebacks import text_of
from ..transcript import RunEnded
from .drive import drive
from .job import Job
from .mutation import mutated
from .ownership import owners_of
from .parent_channel import Control, ControlLost
from .process_group import end_children, lead_group, limit_memory
from .recorder import Recorder
from .worker_folder import enter

_find_once = cache(resolve_subject)


@dataclass(frozen=True, slots=True)
class Place:
    """What a worker process finds itself in, in place of what it was started with.

    work, temporary: its working directory, and that of temporary files.
    project:         the folder of the command.
    memory:          bytes of data that each of its processes may have; None for no limit.
    """

    import_path: tuple[str, ...]
    environment: dict[str, str] = field(repr=False)
    preload: tuple[str, ...]
    work: str
    temporary: str
    project: str
    memory: int | None = None


def main(conn: Connection, place: Place) -> None:
    """Entry of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act on
    lead_group(ends_with=os.path.dirname(place.temporary))  # noqa: PTH120
    os.environ.clear()
    os.environ.update(place.environment)
    sys.path[:] = place.import_path
    set_project_folder(place.project)
    enter(place.work, place.temporary)
    control = Control(conn)
    capture = DescriptorCapture()
    if place.memory is not None:
        limit_memory(place.memory)
    for name in place.preload:
        with contextlib.suppress(Exception):  # whatever is wrong with it, the first run that needs it will say
            import_module(name)
    while (job := control.next_job.get()) is not None:
        try:
            os.environ.update(job.keys)
            enter(place.work, place.temporary)  # an earlier run may have gone elsewhere
            ended = execute(job, control, capture)
            ended = msgspec.structs.replace(ended, processes_left=end_children())
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
    logged = _captured_logs(enabled=job.key.repeat == 0, debug=job.scenario.debug_logs)
    secrets = (job.api_key, *environment_secrets())
    with _loops_to_stderr(), logged as logs, capture.active():
        recorder = Recorder(control, secrets=secrets)
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
    printed, stderr = capture.stdout(), capture.stderr()
    searched = (("stdout", printed), ("stderr", stderr), ("log", logs.getvalue()))
    leaks = tuple(name for name, text in searched if secret_in(text, (CANARY_KEY,)))
    return msgspec.structs.replace(
        ended, stdout=_masked_tail(printed, secrets), stderr=_masked_tail(stderr, secrets), leaks=leaks
    )


def _masked_tail(text: str, secrets: tuple[str, ...]) -> str:
    return mask(text, secrets, begin=max(0, len(text) - 4000))


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {text_of(error)}"


@contextlib.contextmanager
def _loops_to_stderr() -> Iterator[None]:
    """What asyncio says of tasks and event loops goes to standard error. The loops are turnproof's, and it may say it
    runs later: a library that sends all logs of the process to standard output has not printed it."""
    logger = logging.getLogger("asyncio")
    handler = logging.StreamHandler(_Stderr())
    propagates, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


class _Stderr(io.TextIOBase):
    """Standard error as it is when something is written."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


@contextlib.contextmanager
def _captured_logs(*, enabled: bool, debug: bool) -> Iterator[io.StringIO]:
    """What is logged. The level of the root logger is the application's: a library that finds DEBUG there may write
    pages, or take another way, so it stays as it is unless the scenario's application debugs."""
    stream = io.StringIO()
    if not enabled:
        yield stream
        return
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root, loops = logging.getLogger(), logging.getLogger("asyncio")
    level = root.level
    for logger in (root, loops):
        logger.addHandler(handler)
    if debug:
        root.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        for logger in (root, loops):
            logger.removeHandler(handler)
        root.setLevel(level)


class DescriptorCapture:
    """Everything written to the file descriptors 1 and 2 while active."""

    def __init__(self) -> None:
        self._stdout, self._stderr = _CapturedDescriptor(1), _CapturedDescriptor(2)

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        self._stdout.begin()
        self._stderr.begin()
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    def stdout(self) -> str:
        return self._stdout.text()

    def stderr(self) -> str:
        return self._stderr.text()


class _CapturedDescriptor:
    """A file descriptor that leads into a file from now on."""

    def __init__(self, descriptor: int) -> None:
        self._file = tempfile.TemporaryFile(mode="w+b")  # noqa: SIM115 (lives as long as the worker)
        self._start = 0
        os.dup2(self._file.fileno(), descriptor)

    def begin(self) -> None:
        self._start = self._file.seek(0, os.SEEK_END)

    def text(self) -> str:
        self._file.seek(self._start)
        return self._file.read().decode(errors="replace")


class StreamCapture:
    """`sys.stdout` and `sys.stderr` while active, for runs inside the parent process."""

    def __init__(self) -> None:
        self._stdout, self._stderr = io.StringIO(), io.StringIO()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with contextlib.redirect_stdout(self._stdout), contextlib.redirect_stderr(self._stderr):
            yield

    def stdout(self) -> str:
        return self._stdout.getvalue()

    def stderr(self) -> str:
        return self._stderr.getvalue()
