"""The parent of all runs: owns the server and the worker processes, and puts both sides of a run together.

A hung or dead worker is replaced and its run ends as such; the other runs go on.
"""

from __future__ import annotations

import dataclasses
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Protocol, Self

import msgspec

from ..._base.secrets import environment_secrets, mask
from ...agents import AgentBinding
from ...dialects import dialect as dialect_named
from ...dialects.contract import Dialect
from ...dialects.unlisted_models import AnyModel
from ...provider import Binding
from ...scenarios.model import Origin
from ...subject import SessionBinding, Subject
from ...wire import emulator
from ...wire.emulator import ROUND_LIMIT, Responder, ScriptResponder, ServerRun
from ...wire.emulator.live_responder import LiveResponder
from ...wire.emulator.responders import CassetteResponder
from ...wire.emulator.server_run import CANARY_KEY, other_key, secret_run_key
from ..bindings import SubjectTable, subject_of
from ..transcript import Event, RunEnded, Transcript
from .job import Backend, Job, RunSpec
from .limits import NO_LIMITS, Limits
from .merge_transcript import Gathering
from .mutation import mutant_named
from .run_folder import RunFolder
from .run_place import Progress, RunPlace
from .source_files import SourceFiles
from .worker_pool import ProcessSlot, SubjectSlots, ThreadSlot, WorkerSlot

TIME_LIMIT = 20.0
"""Seconds without any word from a run after which it counts as hung."""

_SAY_AGAIN = 60.0
"""Seconds after which a machine that is still starved is reported again."""

_WAITING = 4
"""Runs for each worker that may be made before `done` has seen them, the one under way included."""

LIVE_MAX_TOKENS = 1024
"""`max_tokens` of an adapter that speaks to the real API, where the scenario does not ask for another one: a real model
fills what room it is given, and every token costs."""


class Responders(Protocol):
    """Makes the responder of a run: the backend as the runner needs it."""

    def backend_for(self, spec: RunSpec) -> Backend: ...

    def responder(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder: ...

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None: ...

    def closed(self, spec: RunSpec) -> str: ...


class Emulated:
    """Backend `emulate`: the scenario's own script answers."""

    def backend_for(self, spec: RunSpec) -> Backend:
        """Always the emulator."""
        return "emulate"

    def responder(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder:
        return ScriptResponder(ROUND_LIMIT)

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None:
        """Nothing is kept."""

    def closed(self, spec: RunSpec) -> str:
        """The emulator answers always."""
        return ""


class _Pending:
    """Runs that nobody has begun."""

    def __init__(self, specs: Iterator[RunSpec]) -> None:
        self._specs = specs
        self._lock = threading.Lock()

    def next(self) -> RunSpec | None:
        """The next one, for one thread alone; None where there is none left."""
        with self._lock:
            return next(self._specs, None)


class Runner(RunPlace):
    """Runs scenarios. `with Runner() as runner: transcript = runner.run(spec)`.

    `jobs` worker processes run side by side; `in_process=True` runs everything in threads of this process, for
    debugging and for bindings, of whatever kind of subject, that exist only here (`bindings`). `on_starved` is called
    from any thread when the machine has too little processor time for the runs, and again once a minute.
    """

    def __init__(
        self,
        *,
        jobs: int = 2,
        seed: int = 0,
        in_process: bool = False,
        responders: Responders | None = None,
        bindings: Mapping[str, Binding | SessionBinding | AgentBinding] | None = None,
        time_limit: float = TIME_LIMIT,
        limits: Limits = NO_LIMITS,
        on_starved: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._jobs = 1 if in_process else max(1, jobs)
        self._seed = seed
        self._in_process = in_process
        self._responders = responders or Emulated()
        self._subjects = SubjectTable({name: subject_of(binding) for name, binding in (bindings or {}).items()})
        self._time_limit = time_limit
        self._limits = limits
        self._on_starved = on_starved
        self._silent_until = 0.0
        self._server = emulator.EmulatorServer()
        self._lines: list[SubjectSlots] = []
        self._run_folders: set[RunFolder] = set()
        self._source_files = SourceFiles()

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def warm(self, modules: Iterable[str]) -> None:
        names = tuple(modules)
        while len(self._lines) < self._jobs:
            self._lines.append(SubjectSlots(lambda: self._line(names)))
        for line in self._lines:
            line.warm()

    def __exit__(self, *_: object) -> None:
        for line in self._lines:
            line.close()
        for run_folder in list(self._run_folders):
            self._clear(run_folder, orderly=False)
        self._server.stop()

    @property
    def requests(self) -> int:
        """Requests the server has answered so far."""
        return self._server.requests

    @property
    def strays(self) -> list[str]:
        """Requests that reached the server outside of every run's address so far, as `POST /v1/messages`."""
        return list(self._server.strays)

    @property
    def port(self) -> int:
        """The server's port on loopback."""
        return self._server.port

    def subject(self, name: str) -> Subject:
        return self._subjects[name]

    def make_runs(self, specs: Iterable[RunSpec], progress: Progress) -> None:
        """As for every place. A run is taken from `specs` when a worker is free for it, and begins when no more than a
        few transcripts wait to be seen: what is held does not grow with the number of runs."""
        upcoming = iter(specs)
        first = list(islice(upcoming, self._jobs))  # a single run takes one worker, the same each time
        pending = _Pending(chain(first, upcoming))
        finished: queue.SimpleQueue[tuple[RunSpec, Transcript] | BaseException | None] = queue.SimpleQueue()
        room = threading.Semaphore(_WAITING * self._jobs)
        over = threading.Event()
        while len(self._lines) < len(first):
            self._lines.append(SubjectSlots(self._line))
        feeders = [
            threading.Thread(target=self._feed, args=(line, pending, progress, finished, room, over), daemon=True)
            for line in self._lines[: len(first)]
        ]
        for feeder in feeders:
            feeder.start()
        feeding = len(feeders)
        try:
            while feeding:
                result = finished.get()
                if isinstance(result, BaseException):
                    raise result
                if result is None:
                    feeding -= 1
                    continue
                progress.done(*result)
                room.release()
        finally:
            over.set()
            room.release(self._jobs)  # who waits for room sees that it is over

    def _feed(
        self,
        line: SubjectSlots,
        pending: _Pending,
        progress: Progress,
        finished: queue.SimpleQueue[tuple[RunSpec, Transcript] | BaseException | None],
        room: threading.Semaphore,
        over: threading.Event,
    ) -> None:
        try:
            while room.acquire():
                if over.is_set() or progress.is_stopped or (spec := pending.next()) is None:
                    break
                progress.on_begin(spec)
                finished.put((spec, self._run_one(line, spec)))
        except BaseException as error:
            finished.put(error)
        else:
            finished.put(None)

    def _run_one(self, line: SubjectSlots, spec: RunSpec) -> Transcript:
        subject = self.subject(spec.adapter)
        self._source_files.note()
        binding = subject.adapter
        dialect = dialect_named(binding.dialect)
        backend = self._responders.backend_for(spec)
        if reason := self._responders.closed(spec):
            return self._transcript(spec, (RunEnded(how="service-fault", detail=reason),))
        options = dict(spec.scenario.options)
        model = spec.scenario.model_for(binding.dialect, binding.model)
        if backend == "live":
            options.setdefault("max_tokens", LIVE_MAX_TOKENS)
        key = secret_run_key() if backend == "live" else CANARY_KEY
        server_run = self._server.open_run(
            dialect,
            self._responders.responder(binding, spec, dialect),
            seed=f"{self._seed}/{spec.scenario.name}",
            keys=frozenset({key, other_key(key)}),
            models=_models(dialect, model, options.pop("context_tokens", None), spec.scenario.origin),
        )
        server_run.world.issued.update(spec.issued)
        real = server_run.responder.secrets if isinstance(server_run.responder, LiveResponder) else ()
        server_run.secrets = (key, *environment_secrets(), *real)
        responder = server_run.responder
        server_run.judges = backend != "live" and not (
            isinstance(responder, CassetteResponder) and responder.is_of_service
        )
        server_run.patience = options.get("timeout")
        mutant = mutant_named(spec.mutant) if spec.mutant is not None else None
        if mutant is not None and not mutant.applies_to(spec.scenario.name, spec.key.path):
            mutant = None
        if mutant is not None and mutant.filter is not None:
            server_run.filter = mutant.filter()
        run_folder = RunFolder() if subject.keeps_sessions else None
        if run_folder is not None:
            self._run_folders.add(run_folder)
        job = Job(
            adapter=spec.adapter,
            scenario=spec.scenario,
            key=spec.key,
            base_url=server_run.base_url,
            api_key=key,
            model=model,
            seed=self._seed,
            mutant=spec.mutant if mutant is not None else None,
            flag=spec.flag,
            watch=spec.watch,
            options=options,
            keys={name: os.environ[name] for name in dialect.service.key_variables if name in os.environ},
            sandbox_root=run_folder.root if run_folder is not None else "",
        )
        gathering = Gathering(server_run, spec.scenario)
        orderly = False
        try:
            ended = line.run(job, gathering)
            orderly = ended.how == "completed"
        finally:
            self._server.close_run(server_run)
            if run_folder is not None:
                self._clear(run_folder, orderly=orderly)
        if server_run.failure:
            detail = mask(f"the server failed: {server_run.failure}", server_run.secrets)
            ended = msgspec.structs.replace(ended, how="harness-fault", detail=detail)
        elif ended.how != "completed" and (file := self._source_files.changed()):
            detail = f"{file} was changed while the runs were made, and this one ended as {ended.how!r}: {ended.detail}"
            ended = msgspec.structs.replace(ended, how="harness-fault", detail=detail)
        elif server_run.service_fault:
            ended = msgspec.structs.replace(ended, how="service-fault", detail=server_run.service_fault)
        self._responders.finished(binding, spec, server_run)
        return self._transcript(spec, gathering.finish(ended))

    def _transcript(self, spec: RunSpec, events: tuple[Event, ...]) -> Transcript:
        subject = self.subject(spec.adapter)
        return Transcript(
            adapter=subject.name,
            dialect=subject.adapter.dialect,
            model=spec.scenario.model_for(subject.adapter.dialect, subject.adapter.model),
            backend=self._responders.backend_for(spec),
            key=spec.key,
            seed=self._seed,
            events=events,
        )

    def _clear(self, run_folder: RunFolder, *, orderly: bool) -> None:
        run_folder.clear(orderly=orderly)
        self._run_folders.discard(run_folder)

    def _report_starved(self, words: str) -> None:
        if time.monotonic() >= self._silent_until:
            self._silent_until = time.monotonic() + _SAY_AGAIN
            self._on_starved(words)

    def _line(self, preload: tuple[str, ...] = ()) -> WorkerSlot:
        if self._in_process:
            return ThreadSlot(self._time_limit, self.subject)
        return ProcessSlot(self._time_limit, preload, self._limits, self._report_starved)


_WITHDRAWN = frozenset({"retired", "withdrawn"})


def _models(dialect: Dialect, model: str, context_tokens: int | None, origin: Origin | None) -> Any:
    """Any model; with a smaller window for the run's own model where the scenario requires one. The model of a
    recording was there when it was made."""
    models = AnyModel(dialect.models)
    own = models[model]
    changed = dataclasses.replace(own, features=own.features - _WITHDRAWN) if origin is not None else own
    if context_tokens is not None:
        changed = dataclasses.replace(changed, context_tokens=context_tokens)
    if changed == own:
        return models
    own_models = {model: changed, **dialect.models}
    for name, facts in dialect.models.items():
        if name == model or facts.id == model or facts.alias_of == model:
            own_models[name] = dataclasses.replace(
                facts, context_tokens=changed.context_tokens, features=facts.features & changed.features
            )
    return AnyModel(own_models)
