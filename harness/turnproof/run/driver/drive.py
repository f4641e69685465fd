"""One run, on the subject's side: open the session, hold the conversation, record everything.

The session's time, randomness and ids are injected, so that the same seed gives the same run. Back-off sleeps are
virtual: they are recorded, not waited for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Set

from ...errors import HarnessError
from ...subject import Subject
from ..tracebacks import text_of
from ..transcript import RunEnded
from .conversation import Run
from .job import Job
from .parent_channel import ControlLost
from .probes import run_probes
from .recorder import Recorder

_THREADS_MAY_TAKE = 0.5
"""Seconds in which threads of a run may end that are about to: the one that cancelled it, a client's that closes."""


def drive(job: Job, subject: Subject, recorder: Recorder) -> RunEnded:
    """Run the whole scenario. Whatever the subject does ends up in the events, never as an exception here."""
    run = Run(job, subject, recorder)
    threads_before = frozenset(threading.enumerate())
    try:
        run.open()
    except ControlLost:
        raise
    except HarnessError as error:
        return RunEnded(how="harness-fault", detail=str(error), raised=recorder.raised(error))
    except BaseException as error:
        detail = f"{type(error).__name__}: {text_of(error)}"
        return RunEnded(how="open-failed", detail=detail, raised=recorder.raised(error))
    try:
        for index, turn in enumerate(job.scenario.turns):
            run.turn(index, turn)
        recorder.turn = -1
        run_probes(job, recorder, run.calls, run.providers.open, subject.adapter.dialect)
        run.probes.run_all()
        run.look()
    finally:
        run.close()
    if "shutdown" in job.scenario.probes:
        recorder.control.ask("shut-down")
    return RunEnded(how="completed", threads_left=_threads_left(threads_before), opened=recorder.opened)


def _threads_left(before: Set[threading.Thread]) -> int:
    """How many threads this run has started that do not end."""
    over = time.monotonic() + _THREADS_MAY_TAKE
    started = [thread for thread in threading.enumerate() if thread not in before]
    for thread in started:
        # A thread that was not started from Python cannot be waited for.
        if not isinstance(thread, threading._DummyThread):
            thread.join(max(0.0, over - time.monotonic()))
    return sum(thread.is_alive() for thread in started)
