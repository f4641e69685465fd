"""Work done in forks of a process that has everything imported: what one of them breaks, no other sees."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Alive: TypeAlias = Callable[[], None]
"""What a fork calls now and then, so that it does not count as hung."""


@dataclass(frozen=True, slots=True)
class ForkLoss:
    """A fork that gave no result: it `hung`, or it died."""

    hung: bool


@dataclass(slots=True)
class _Fork(Generic[T]):
    task: T
    process: multiprocessing.process.BaseProcess
    last_message_time: float


def forked(
    tasks: Iterator[T], work: Callable[[T, Alive], R], *, jobs: int, silence: float
) -> Iterator[tuple[T, R | ForkLoss]]:
    """Do each task in a fork of its own, `jobs` at once, and yield its result when it is there, or how it was lost.

    A fork that says nothing for `silence` seconds is killed. The next task is taken only when there is a place for it,
    so that a generator of tasks may learn from the results so far.
    """
    running: dict[Connection, _Fork[T]] = {}
    try:
        while True:
            while len(running) < jobs and (task := next(tasks, None)) is not None:
                near, process = _start(task, work)
                running[near] = _Fork(task, process, time.monotonic())
            if not running:
                return
            patience = max(0.0, min(fork.last_message_time for fork in running.values()) + silence - time.monotonic())
            ready = wait(list(running), patience)
            for near in [one for one in running if one in ready or _is_late(running[one], silence)]:
                fork = running[near]
                try:
                    data = near.recv_bytes() if near in ready else None
                except EOFError:
                    yield _ended(running, near), ForkLoss(hung=False)
                    continue
                if data is None:
                    yield _ended(running, near), ForkLoss(hung=True)
                elif data:
                    yield _ended(running, near), pickle.loads(data)
                else:
                    fork.last_message_time = time.monotonic()
    finally:
        for near in list(running):
            _ended(running, near)


def _start(task: T, work: Callable[[T, Alive], R]) -> tuple[Connection, multiprocessing.process.BaseProcess]:
    context = multiprocessing.get_context("fork")
    near, far = context.Pipe(duplex=False)

    def run() -> None:
        try:
            far.send_bytes(pickle.dumps(work(task, lambda: far.send_bytes(b""))))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)  # threads of what was broken must not keep the fork alive

    process = context.Process(target=run, daemon=True)
    process.start()
    far.close()
    return near, process


def _is_late(fork: _Fork[T], silence: float) -> bool:
    return time.monotonic() - fork.last_message_time >= silence


def _ended(running: dict[Connection, _Fork[T]], near: Connection) -> T:
    fork = running.pop(near)
    near.close()
    fork.process.kill()
    fork.process.join()
    return fork.task
