"""Runs scenarios on a cluster, as `Runner` does on this machine.

Runs go out in batches, as many as keep the workers busy, and come back in the order they end. A batch whose worker is
lost goes out again as two halves, so that a run which ends its worker is soon alone, and workers that live for a few
seconds only still get something done. What comes back of a batch that has gone out twice counts once.
"""

from __future__ import annotations

import itertools
import queue
import secrets
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ..._base.counts import counted
from ...errors import HarnessError, UsageError
from ...subject import Subject
from ..backends import Backends, cassette_roots
from ..bindings import SubjectTable
from ..driver import RunSpec
from ..driver.limits import Limits
from ..driver.run_place import PlaceReports, Progress, RunPlace
from ..emulation import Emulation
from ..project_folder import project_folder
from ..transcript import Transcript
from .connection import Cluster, is_on_this_machine
from .identity import Identity, Needs
from .jobs import Answers, Batch, Broken, FinishedRuns, LostProcess, Ready, Setup, answer_of, encoded
from .options import ClusterOptions
from .share import Share
from .wheels import read_wheels, send

MOST_LOSSES = 10
"""So often a run may lose its worker before the command gives up."""

PATIENCE = 60.0
"""Seconds that a cluster may be without any worker before the command gives up."""

_BATCH = 16
"""Runs of a batch at the most: what is lost with a worker, and what is held in memory at a time."""

_AHEAD = 3
"""Batches that are out for each that a worker can make at a time."""

_LOOK = 1.0
"""Seconds between two looks at the workers."""


@dataclass(slots=True)
class _Out:
    """A batch that is out. `losses` are those of its runs, each of which has lost as many workers."""

    specs: tuple[RunSpec, ...]
    losses: int = 0

    def halves(self) -> Iterator[_Out]:
        """What goes out again after a loss."""
        middle = (len(self.specs) + 1) // 2
        return (_Out(part, self.losses) for part in (self.specs[:middle], self.specs[middle:]) if part)


@dataclass(slots=True)
class _Batches:
    """What is still to go out: what was lost comes first."""

    fresh: Iterator[tuple[RunSpec, ...]]
    again: list[_Out] = field(default_factory=list)

    def next(self) -> _Out | None:
        if self.again:
            return self.again.pop()
        specs = next(self.fresh, None)
        return _Out(specs) if specs is not None else None


class ClusterRunner(RunPlace):
    """Runs scenarios on a cluster.

    `subjects` are those that are run, by the names that specs have for them; `mutants` those that are not of a suite.
    `environment` are variables that the runs find with these values (None: not set). `names` are names for sessions
    that share the name of their binding, by spec.
    """

    def __init__(
        self,
        cluster: ClusterOptions,
        subjects: Mapping[str, Subject],
        *,
        seed: int = 0,
        responders: Backends | Emulation | None = None,
        time_limit: float,
        limits: Limits,
        reports: PlaceReports,
        mutants: Iterable[str] = (),
        environment: Mapping[str, str | None] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(responders, Backends):
            _refuse_live(responders)
        if not cluster.share and not is_on_this_machine(cluster.address):
            raise UsageError(
                f"--cluster {cluster.address}: name the folder that all machines of the cluster share, as `share` in "
                "the settings [cluster]; transcripts go through it"
            )
        self._options = cluster
        self._wheels = read_wheels(cluster.wheels)
        self._cluster = Cluster(cluster.address)
        self._subjects = SubjectTable(subjects)
        self._seed = seed
        self._responders = responders
        self._time_limit = time_limit
        self._limits = limits
        self._reports = reports
        self._starved = False
        self._mutants = tuple(mutants)
        self._environment = dict(environment or {})
        self._names_told_apart = dict(names or {})
        self._campaign = f"turnproof-{secrets.token_hex(8)}"
        self._stack = ExitStack()
        self._setup = b""
        self._share: Share | None = None
        self._names = itertools.count()
        self._workers = 0
        self._slots = 1
        self._alone_since: float | None = None
        self._looked = 0.0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._cluster)
            place = self._options.share or stack.enter_context(
                tempfile.TemporaryDirectory(prefix="turnproof-share-", ignore_cleanup_errors=True)
            )
            self._share = Share(place, self._campaign)
            stack.callback(self._share.remove)
            self._setup = encoded(self._setup_of(place))
            stack.callback(self._cluster.forget, self._setup)
            self._look()
            self._check_workers()
            self._reports.dashboard(self._cluster.dashboard)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.cancel()
        self._stack.close()

    def warm(self, modules: Iterable[str]) -> None:
        """Nothing is left to do: the workers have imported the modules when they were checked."""

    def subject(self, name: str) -> Subject:
        return self._subjects[name]

    def make_runs(self, specs: Iterable[RunSpec], progress: Progress) -> None:
        """As for every place. `done` is called from this thread, and `on_begin` is not called: only a worker knows when
        a run begins. Only so many runs are taken from `specs` as are out at a time.

        Raises HarnessError where the cluster is lost, or a batch loses one worker after the other.
        """
        batches = _Batches(_in_batches(specs, self._slots))
        out: dict[str, _Out] = {}
        ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        try:
            while True:
                while len(out) < _AHEAD * self._slots and not progress.is_stopped:
                    if (batch := batches.next()) is None:
                        break
                    self._send(batch, out, ended)
                if not out:
                    return
                self._look()
                try:
                    name = ended.get(timeout=_LOOK)
                except queue.Empty:
                    continue
                batch = out.pop(name)
                answer = self._answer(name, batch)
                if answer is None:
                    batches.again += batch.halves()
                    continue
                self._take_in(answer, batch.specs, progress.done)
        except BaseException:
            self._cluster.cancel()
            raise

    def _send(self, batch: _Out, out: dict[str, _Out], ended: queue.SimpleQueue[str]) -> None:
        name = f"{self._campaign}-{next(self._names)}"
        out[name] = batch
        self._cluster.submit(name, self._setup, encoded(Batch(name, batch.specs)), ended.put)

    def _answer(self, name: str, batch: _Out) -> FinishedRuns | None:
        """The runs of a batch that has ended; None where its worker was lost, so that it has to go out again."""
        found = self._cluster.outcome(name)
        answer = answer_of(found) if isinstance(found, bytes) else LostProcess(found)
        match answer:
            case FinishedRuns():
                return answer
            case Ready():
                raise UsageError(_refusal("a worker that has joined the cluster", answer.differences))
            case Broken():
                raise (UsageError if answer.usage else HarnessError)(f"on a worker of the cluster: {answer.reason}")
            case LostProcess():
                batch.losses += 1
                if batch.losses > MOST_LOSSES:
                    runs = ", ".join(f"{spec.adapter} {spec.key}" for spec in batch.specs)
                    raise HarnessError(
                        f"{runs} lost the worker {counted(batch.losses, 'time')} ({answer.reason}); look at the "
                        "worker's log, then go on with --resume"
                    )
                return None

    def _take_in(
        self, finished: FinishedRuns, specs: tuple[RunSpec, ...], done: Callable[[RunSpec, Transcript], None]
    ) -> None:
        assert self._share is not None
        transcripts = self._share.read(finished.file, finished.sha256)
        if [one.key for one in transcripts] != [spec.key for spec in specs]:
            raise HarnessError(f"a worker of the cluster has sent other runs than {specs[0].key} and those behind it")
        if isinstance(self._responders, Backends):
            self._responders.add_played(finished.played)
        if isinstance(self._responders, Emulation):
            for spec, issued in zip(specs, finished.issued, strict=True):
                self._responders.add_issued(spec, issued)
        if finished.starved and not self._starved:
            self._starved = True
            self._reports.starved(f"on a worker of the cluster, {finished.starved}")
        for spec, transcript in zip(specs, transcripts, strict=True):
            done(spec, transcript)

    # -- workers ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Count the workers, now and then. Raises HarnessError where there has been none for long."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        threads = self._cluster.threads()
        if len(threads) != self._workers:
            self._workers = len(threads)
            self._reports.workers(len(threads))
        self._slots = max(1, sum(threads.values()))
        if threads:
            self._alone_since = None
            return
        self._alone_since = self._alone_since if self._alone_since is not None else now
        if now - self._alone_since > PATIENCE:
            raise HarnessError(
                f"the cluster at {self._options.address} has had no worker for {PATIENCE:g} s; start some, then go on "
                "with --resume"
            )

    def _check_workers(self) -> None:
        """Raises UsageError where a worker differs from this machine, or does not see the shared folder."""
        for worker, message in self._cluster.check_workers(self._setup).items():
            if isinstance(message, str):
                hint = "; install the same turnproof there" if "turnproof" in message else ""
                raise UsageError(f"the cluster's worker {worker} cannot make runs: {message}{hint}")
            match answer_of(message):
                case Ready(differences=()):
                    pass
                case Ready(differences=found):
                    raise UsageError(_refusal(f"the cluster's worker {worker}", found))
                case Broken(reason=reason) | LostProcess(reason=reason):
                    raise UsageError(f"the cluster's worker {worker} cannot make runs: {reason}")

    def _setup_of(self, place: str) -> Setup:
        assert self._share is not None
        answers, folders = _answers(self._responders)
        replayed = any(one.backend == "replay" for one in (answers or {}).values())
        needs = Needs.of(self._subjects.values(), replayed=replayed, folders=folders, mutants=self._mutants)
        name, sha256 = self._share.sign()
        return Setup(
            campaign=self._campaign,
            project=project_folder(),
            share=place,
            sign=(name, sha256),
            seed=self._seed,
            time_limit=self._time_limit,
            needs=needs,
            identity=Identity.here(needs),
            answers=answers,
            modules=tuple(dict.fromkeys(module for one in self._subjects.values() for module in one.modules)),
            memory=self._limits.memory,
            processes=self._limits.processes,
            issued=isinstance(self._responders, Emulation),
            wheels=send(self._wheels, self._share),
            environment=self._environment,
            names=self._names_told_apart,
        )


def _refusal(who: str, differences: Iterable[str]) -> str:
    found = list(differences)
    return f"{who} differs from this machine in {counted(len(found), 'point')}, so no run is made: {'; '.join(found)}"


def _answers(responders: Backends | Emulation | None) -> tuple[dict[str, Answers] | None, list[Path]]:
    """What answers, by name, and the folders of cassettes that are no installed ones."""
    if not isinstance(responders, Backends):
        return None, []
    found: dict[str, Answers] = {}
    folders: list[Path] = []
    for spec, choice in responders.choices.items():
        own = choice.folder is not None and choice.folder not in cassette_roots()
        folder = choice.folder.resolve() if own and choice.folder is not None else None
        folders += [folder] if folder is not None else []
        found[spec] = Answers(choice.backend, str(folder) if folder is not None else "")
    return found, list(dict.fromkeys(folders))


def _refuse_live(backends: Backends) -> None:
    live = [spec for spec, choice in backends.choices.items() if choice.backend == "live"]
    if live:
        raise UsageError(
            f"--cluster goes with what needs no key, and {live[0]} is live: a key never leaves this machine; leave "
            "--cluster or --backend live away"
        )


def _in_batches(specs: Iterable[RunSpec], slots: int) -> Iterator[tuple[RunSpec, ...]]:
    """The runs in batches: few at a time where there are few, so that all workers have some."""
    size = max(1, min(_BATCH, len(specs) // (4 * slots))) if isinstance(specs, Sized) else _BATCH
    runs = iter(specs)
    while batch := tuple(itertools.islice(runs, size)):
        yield batch
