"""The process beside a cluster's worker in which runs are made: it has the emulator, and starts the subjects' workers.

It is a process of our own because the worker of a cluster may be one that can start no processes, and because what a
run needs of a process (its folder, its environment, its signals) is not to be the cluster's.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from ... import __version__
from ...errors import TurnproofError, UsageError
from ...subject import SessionBinding
from ..backends import Backends, Choice, Played, choose_backend
from ..bindings import resolve_subject
from ..driver import Runner, prefork
from ..driver.limits import Limits
from ..driver.runner import Emulated, Responders
from ..driver.worker_pool import subject_environment
from ..emulation import Emulation
from ..project_folder import set_project_folder
from ..transcript import Transcript
from .identity import Identity, differences
from .jobs import Answer, Batch, Broken, FinishedRuns, Ready, Setup, batch_of, encoded, setup_of
from .share import Share
from .wheels import unpack

IDLE = 600.0
"""Seconds without a batch after which the process ends."""

_END = 5.0


def main(descriptor: int) -> None:
    """Serve the line with this file descriptor until its other end is closed."""
    line = Connection(descriptor)
    messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    with ExitStack() as stack:
        listener = threading.Thread(target=_listen, args=(line, messages, stack), name="turnproof-cluster", daemon=True)
        listener.start()
        with contextlib.suppress(BrokenPipeError):  # nobody is there any more to hear it
            _answer(line, messages, stack)


def _answer(line: Connection, messages: queue.SimpleQueue[bytes | None], stack: ExitStack) -> None:
    first = messages.get()
    if first is None:
        return
    try:
        setup = setup_of(first)
    except msgspec.MsgspecError as error:
        reason = (
            f"turnproof {__version__} there cannot read what this command sends ({error}): install the same version"
        )
        line.send_bytes(encoded(Broken(reason, usage=True)))
        return
    _take_place(setup)
    found = _unpack(setup, stack)
    prefork.prepare(setup.modules)
    found = found or _problems(setup)
    line.send_bytes(encoded(Ready(found)))
    if not found:
        _serve(line, messages, stack, setup)


def _serve(line: Connection, messages: queue.SimpleQueue[bytes | None], stack: ExitStack, setup: Setup) -> None:
    starved: list[str] = []
    answers = _responders(setup)
    runner = Runner(
        jobs=1,
        seed=setup.seed,
        responders=answers,
        time_limit=setup.time_limit,
        limits=Limits(setup.memory, setup.processes),
        on_starved=starved.append,
        bindings={spec: _session_named(spec, name) for spec, name in setup.names.items()},
    )
    stack.enter_context(runner)
    share = Share(setup.share, setup.campaign)
    while (message := _next(messages)) is not None:
        line.send_bytes(encoded(_make(runner, share, answers, batch_of(message), starved)))


def _session_named(spec: str, name: str) -> SessionBinding:
    """The session of a subject under the name that the command has for it."""
    subject = resolve_subject(spec)
    return dataclasses.replace(subject.session, name=name, adapter=subject.adapter)


def _next(messages: queue.SimpleQueue[bytes | None]) -> bytes | None:
    """The next message; None where there is none for long, or never."""
    try:
        return messages.get(timeout=IDLE)
    except queue.Empty:
        return None


def _make(runner: Runner, share: Share, answers: Responders, batch: Batch, starved: list[str]) -> Answer:
    """The runs of a batch, one after the other, in its order."""
    transcripts: list[Transcript] = []
    try:
        runner.run_all(batch.specs, lambda spec, transcript: transcripts.append(transcript))
        file, sha256 = share.write(transcripts)
    except TurnproofError as error:
        return Broken(str(error), usage=isinstance(error, UsageError))
    except Exception as error:
        return Broken(f"{type(error).__name__}: {error}")
    issued = tuple(dict(answers.issued(spec)) for spec in batch.specs) if isinstance(answers, Emulation) else ()
    played = answers.take_played() if isinstance(answers, Backends) else Played()
    return FinishedRuns(file, sha256, played, issued, starved[0] if starved else "")


def _take_place(setup: Setup) -> None:
    """Work in the project's folder, where there is one of that name on this machine, without keys of services, and
    with the variables that the command sets for its runs."""
    if Path(setup.project).is_dir():
        os.chdir(setup.project)
    set_project_folder(str(Path.cwd()))
    allowed_names = subject_environment(os.environ)
    unset = {name for name, value in setup.environment.items() if value is None}
    for name in [name for name in os.environ if name not in allowed_names or name in unset]:
        del os.environ[name]
    os.environ.update({name: value for name, value in setup.environment.items() if value is not None})


def _unpack(setup: Setup, held: ExitStack) -> tuple[str, ...]:
    """Make the modules of the wheels importable until the stack is closed; what keeps this machine from it, a line
    each. A wheel comes before what is installed."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if not setup.wheels:
        return ()
    folder = held.enter_context(tempfile.TemporaryDirectory(prefix="turnproof-wheels-", ignore_cleanup_errors=True))
    try:
        share = Share(setup.share, setup.campaign)
    except UsageError as error:
        return (str(error),)
    sys.path.insert(0, folder)
    return tuple(unpack(setup.wheels, share, Path(folder)))


def _problems(setup: Setup) -> tuple[str, ...]:
    """What keeps this machine from making the runs, a line each; empty if nothing does."""
    found = tuple(differences(setup.identity, Identity.here(setup.needs)))
    if found:
        return found
    try:
        share = Share(setup.share, setup.campaign)
    except UsageError as error:
        return (str(error),)
    if not share.shows(*setup.sign):
        return (f"{setup.share} is not the same folder on both: name one that all machines share",)
    return ()


def _responders(setup: Setup) -> Responders:
    if setup.answers is None:
        return Emulation() if setup.issued else Emulated()
    choices: dict[str, Choice] = {}
    for spec, answers in setup.answers.items():
        folder = Path(answers.folder) if answers.folder else None
        choices[spec] = choose_backend(spec, resolve_subject(spec), answers.backend, folder)
    return Backends(choices)


def _listen(line: Connection, messages: queue.SimpleQueue[bytes | None], stack: ExitStack) -> None:
    """Pass messages on. When the other end is closed or has died, this process ends with all that it has started."""
    try:
        while True:
            messages.put(line.recv_bytes())
    except (EOFError, OSError):
        messages.put(None)
        time.sleep(_END)  # time for the present run to end by itself; the process then ends, too
        threading.Timer(_END, os._exit, (1,)).start()
        stack.close()
        os._exit(1)
