"""The places where runs happen, one after the other: a worker process, or a thread of this one."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext

import msgspec

from ..._base.counts import counted
from ..._base.secrets import is_secret_name
from ...dialects import dialect, dialect_names, surface_names
from ...subject import Subject
from ...wire.emulator.server_run import SERVER_THREAD
from ..project_folder import project_folder
from ..transcript import RunEnded
from . import prefork, worker
from .job import Job
from .limits import NO_LIMITS, Limits
from .merge_transcript import Gathering
from .parent_channel import Control, poller
from .process_group import descendants, end_processes_in, kill_group
from .starvation import LEAST, MOST, Patience, Starved
from .worker_folder import WorkerFolder

OPEN_LIMIT = 60.0
"""Seconds without any word while an adapter is imported and opened: SDKs take seconds to import on a busy machine."""

_AT_ONCE = 0.3
"""Seconds in which nearly every word comes; what is silent for longer is looked at."""

_LOOK = 0.2
"""Seconds between two looks at a silent run."""

KEPT_WORKERS = 3
"""Subjects of a place whose workers are kept for later runs: an exploration has two that take turns."""


def subject_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a subject may see: none that holds the key of a service, and none by which pytest says that a
    test runs. Some libraries work otherwise in tests, and it is what they do for their users that is judged."""
    return {
        name: value
        for name, value in environment.items()
        if not (is_secret_name(name) and name in service_keys()) and not name.startswith("PYTEST_")
    }


@cache
def service_keys() -> frozenset[str]:
    """The variables from which the services of all dialects and surfaces take their keys. Loads all dialects."""
    surfaces = (f"{name}@{surface}" for name in dialect_names() for surface in surface_names(name))
    return frozenset(name for each in (*dialect_names(), *surfaces) for name in dialect(each).service.key_variables)


class TooMuch(Exception):
    """A run has taken more than the settings let it."""


class WorkerSlot(ABC):
    """A place where runs happen, one after the other."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._opened: set[str] = set()
        self._conn: Connection | None = None
        self._closing = threading.Lock()
        self._closed = False

    def run(self, job: Job, gathering: Gathering) -> RunEnded:
        """One run; fills `gathering`. A silent or dead place is replaced before the next run."""
        conn = self._ready()
        gathering.attach(conn)
        conn.send(("job", job))
        poll = poller(conn)
        limit = self._time_limit if job.adapter in self._opened else max(OPEN_LIMIT, self._time_limit)
        try:
            while True:
                if not self._wait(poll, limit):
                    if gathering.waits_for_service(limit):
                        continue
                    self._discard()
                    where = gathering.place() + gathering.calls_without_results()
                    return RunEnded(how="hung", detail=f"no sign of life for {limit:g} s, {where}")
                events, moments, kind, payload = conn.recv()
                gathering.note(events, moments)
                limit = self._time_limit
                if kind == "done":
                    self._opened.add(job.adapter)
                    ended = self._left(payload)
                    if ended.processes_left or ended.files_left or ended.threads_left:
                        self._discard()  # the next run neither finds it nor counts on it
                    return ended
                gathering.add_message(kind, payload)
        except Starved as error:
            self._discard()
            return RunEnded(how="harness-fault", detail=f"{error}, {gathering.place()}")
        except TooMuch as error:
            self._discard()
            return RunEnded(how="died", detail=f"{error}, {gathering.place()}")
        except (EOFError, ConnectionError, OSError) as error:
            self._discard()
            return RunEnded(how="died", detail=f"the run's process ended ({type(error).__name__}), {gathering.place()}")
        except BaseException:
            self._discard()  # what is still on the line belongs to no later run
            raise

    def warm(self) -> None:
        """Be ready for a run as soon as can be, without waiting for it."""
        self._ready()

    def _left(self, ended: RunEnded) -> RunEnded:
        """The end of a run, with what it has left in its place."""
        return ended

    def _wait(self, poll: Callable[[float], bool], limit: float) -> bool:
        """Whether the run says something within so many seconds. Raises TooMuch for one that takes more than it may."""
        return poll(limit)

    def _ready(self) -> Connection:
        if self._conn is None:
            self._conn = self._start()
        conn = self._conn
        if self._closed or conn is None:
            self._discard()
            raise ConnectionAbortedError("the runner was closed while a place for the run was opened")
        return conn

    @abstractmethod
    def _start(self) -> Connection:
        """Open the place; the near end of its line."""

    def _discard(self) -> None:
        with self._closing:  # an interrupted runner is closed while its runs notice that their line is gone
            conn, self._conn = self._conn, None
            self._opened.clear()
        if conn is not None:
            conn.close()

    def close(self) -> None:
        """No more runs."""
        self._closed = True
        self._discard()


class ProcessSlot(WorkerSlot):
    """Runs in a worker process, which imports `preload` as soon as it starts."""

    def __init__(
        self,
        time_limit: float,
        preload: tuple[str, ...] = (),
        limits: Limits = NO_LIMITS,
        on_starved: Callable[[str], None] = lambda words: None,
    ) -> None:
        super().__init__(time_limit)
        self._on_starved = on_starved
        self._was_starved = False
        self._preload = preload
        self._limits = limits
        self._folder: WorkerFolder | None = None
        self._process: multiprocessing.process.BaseProcess | None = None

    def warm(self) -> None:
        """Start a worker that is spawned. A forked one finds everything imported, and its first run starts it."""
        if prefork.context(self._preload) is None:
            super().warm()

    def _start(self) -> Connection:
        forking = prefork.context(self._preload)
        if forking is not None:
            try:
                return self._open(forking)
            except (EOFError, OSError):
                prefork.give_up()
        return self._open(multiprocessing.get_context("spawn"))

    def _open(self, context: BaseContext) -> Connection:
        ours, theirs = context.Pipe()
        folder = WorkerFolder()
        place = worker.Place(
            import_path=tuple(os.path.abspath(one) for one in sys.path),  # noqa: PTH100 (`""` is the current folder)
            environment=subject_environment(os.environ),
            preload=self._preload,
            work=folder.work,
            temporary=folder.temporary,
            project=project_folder(),
            memory=self._limits.memory,
        )
        # mypy knows `Process` of the contexts that are made, not of what they have in common.
        process = context.Process(  # type: ignore[attr-defined]
            target=worker.main, args=(theirs, place), daemon=True
        )
        self._folder = folder
        try:
            with theirs:
                process.start()
        except BaseException:
            folder.clear()
            raise
        self._process = process
        return ours

    def _left(self, ended: RunEnded) -> RunEnded:
        self._was_starved = False
        files = self._folder.files_left() if self._folder is not None else ()
        return msgspec.structs.replace(ended, files_left=files) if files else ended

    def _wait(self, poll: Callable[[float], bool], limit: float) -> bool:
        """As long as the run could have gone on: what it waits for a processor does not count."""
        if poll(first := min(_AT_ONCE, limit)):
            self._count_processes()
            return True
        pid = self._process.pid if self._process is not None else None
        if pid is None:
            return poll(limit - first)
        patience = Patience(pid, already=first, serving=_serving_threads())
        while not poll(_LOOK):
            self._count_processes()
            patience.look()
            if starved := patience.starved():
                self._on_starved(starved)
            if (silence := patience.silence) >= limit:
                if silence - patience.waited >= limit:
                    return False
                if silence >= (LEAST if self._was_starved else MOST) * limit:
                    self._was_starved = True
                    raise Starved(patience.starved() or f"this machine is starved: {silence:.0f} s without a word")
        self._count_processes()
        return True

    def _count_processes(self) -> None:
        pid, most = self._process.pid if self._process is not None else None, self._limits.processes
        if pid is not None and most is not None and (count := len(descendants(pid))) > most:
            raise TooMuch(f"the run had {counted(count, 'process')} running; `workers.processes` allows {most}")

    def _discard(self) -> None:
        super()._discard()
        with self._closing:
            process, self._process = self._process, None
            folder, self._folder = self._folder, None
        if process is not None:
            process.join(timeout=0.5)
            if process.pid is not None:
                kill_group(process.pid)
            process.join(timeout=5)
        if folder is not None:
            end_processes_in(folder.root)
            folder.clear()


def _serving_threads() -> tuple[int, ...]:
    """The native ids of the threads of this process in which emulators answer."""
    named = (thread for thread in threading.enumerate() if thread.name == SERVER_THREAD)
    return tuple(thread.native_id for thread in named if thread.native_id is not None)


class SubjectSlots:
    """A place for one run at a time, in which each subject has a worker of its own.

    So nothing that a subject does to its process reaches another one. The workers of the subjects that ran last are
    kept.
    """

    def __init__(self, open_slot: Callable[[], WorkerSlot]) -> None:
        self._open_slot = open_slot
        self._spare = open_slot()
        self._slots: dict[str, WorkerSlot] = {}
        self._lock = threading.Lock()
        self._closed = False

    def run(self, job: Job, gathering: Gathering) -> RunEnded:
        """One run in the worker of the job's subject."""
        return self._slot_of(job.adapter).run(job, gathering)

    def warm(self) -> None:
        """Be ready for a run as soon as can be, without waiting for it."""
        self._spare.warm()

    def close(self) -> None:
        """No more runs."""
        with self._lock:
            self._closed = True
            slots = [self._spare, *self._slots.values()]
        for slot in slots:
            slot.close()

    def _slot_of(self, subject: str) -> WorkerSlot:
        leaving: WorkerSlot | None = None
        with self._lock:
            slot = self._slots.pop(subject, None)
            if slot is None:
                if len(self._slots) >= KEPT_WORKERS:
                    leaving = self._slots.pop(next(iter(self._slots)))
                slot, self._spare = self._spare, self._open_slot()
                if self._closed:
                    slot.close()
            self._slots[subject] = slot  # the one that ran last comes last
        if leaving is not None:
            leaving.close()
        return slot


class ThreadSlot(WorkerSlot):
    """Runs in a thread of this process. A hung run cannot be killed; its thread is left behind."""

    def __init__(self, time_limit: float, find: Callable[[str], Subject]) -> None:
        super().__init__(time_limit)
        self._find = find

    def _start(self) -> Connection:
        ours, theirs = multiprocessing.Pipe()
        control = Control(theirs)

        def serve() -> None:
            while (job := control.next_job.get()) is not None:
                ended = worker.execute(job, control, worker.StreamCapture(), self._find)
                control.notify("done", ended)

        threading.Thread(target=serve, name="turnproof-run", daemon=True).start()
        return ours
