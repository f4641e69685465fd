"""What the process of `prefork` does before the first worker is forked from it. Anywhere else this module does nothing.

It ends, and the workers are spawned, where its imports started a thread, which a fork would not take along with the
locks that it holds, or where they take longer than any adapter may take to open, though it had a processor.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

from ..._base.environment import environment_with
from .prefork import HANDED_OVER
from .starvation import own_wait

IMPORT_LIMIT = 60
"""Seconds. An import that hangs would be waited for without end by whoever wants a worker."""

THREAD_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads a library of linear algebra starts while it is imported. Numpy comes with one,
and many frameworks come with numpy."""


def _is_fork_server() -> bool:
    return sys.orig_argv[-1].startswith("from multiprocessing.forkserver import main")


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act on
    value = os.environ.pop(HANDED_OVER, None)
    if value is None:
        os._exit(1)  # multiprocessing starts another one where the first has ended: nobody has asked for that
    _let_go_of_the_terminal()
    signal.signal(signal.SIGALRM, _give_up_unless_starved)
    signal.alarm(IMPORT_LIMIT)
    handed_over = json.loads(value)
    sys.path[:] = handed_over["path"]
    gc.disable()  # what is imported is there to stay
    with environment_with(dict.fromkeys(THREAD_POOLS, "1")):
        for name in (f"{__package__}.worker", *handed_over["modules"]):
            with contextlib.suppress(Exception):  # whatever is wrong with it, the first run that needs it will say
                import_module(name)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    if len([*Path("/proc/self/task").iterdir()]) > 1:
        os._exit(1)
    gc.freeze()  # a collection that walked what was imported would copy it into each worker
    gc.enable()


def _give_up_unless_starved(*_: object) -> None:
    """End the process, whose imports took too long; on a machine that gave it no processor, wait on."""
    if own_wait() < next(_alarms) * IMPORT_LIMIT / 2:
        os._exit(1)
    signal.alarm(IMPORT_LIMIT)


_alarms = itertools.count(1)


def _let_go_of_the_terminal() -> None:
    """Read and write nothing of the command's.

    For good: who reads the command's output to its end waits until no process has it open, and this one may still be
    importing when the command has ended. What it would say is of no use to anybody, since without it all goes on.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)


if _is_fork_server():
    _prepare()
