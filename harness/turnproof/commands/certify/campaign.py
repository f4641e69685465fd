"""A certification while it happens: runs are made once, kept as evidence, and read by every check.

A campaign is driven by pytest (one item a verdict), but knows nothing of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ...dialects import dialect
from ...errors import HarnessError
from ...judge.requirements import Shown
from ...judge.run_log import Processes, ResultLine, RunWriter, TranscriptLine
from ...judge.verdict import Status, Verdict, inconclusive
from ...judge.view import View
from ...report.progress import Silence, Telling
from ...run.driver import RunSpec
from ...run.driver.run_place import RunPlace
from ...run.evidence import EvidenceStore
from ...run.transcript import Killed, LeftBehind, RunKey, SessionInForce, Transcript
from ...scenarios import Scenario
from ...subject import Subject
from .decide import Claimed, decide, decided_on
from .leftovers import Leftovers
from .plan import Item, Plan
from .second_runs import SecondRuns
from .sweep import Sweep


class Campaign:
    """Makes the plan's runs in a runner, then gives the verdict of each item.

    `control` is asked first. Where it says why the harness is `broken`, no run is made, and every verdict is
    inconclusive for that reason. `live` are the adapters that the real service answers. `known` are runs that are there
    already, by the adapter's name: they are not made again.
    """

    def __init__(
        self,
        plan: Plan,
        adapters: Mapping[str, Subject],
        runner: RunPlace,
        store: EvidenceStore,
        scenarios: Sequence[Scenario],
        writer: RunWriter | None = None,
        progress: Telling | None = None,
        control: Callable[[], str] = lambda: "",
        sweep: Sweep | None = None,
        shown: Shown | None = None,
        live: Collection[str] = (),
        known: Mapping[tuple[str, RunKey], TranscriptLine] | None = None,
    ) -> None:
        self.plan = plan
        self.adapters = adapters
        self.results: list[ResultLine] = []
        self._runner = runner
        self._store = store
        self._scenarios = scenarios
        self._writer = writer
        self._progress = progress or Silence()
        self._views: dict[str, list[View]] = {spec: [] for spec in adapters}
        self._second_runs = {spec: SecondRuns(plan, spec) for spec in adapters}
        self._measured = False
        self._control = control
        self._sweep = sweep
        self._shown = shown
        self._claimed: dict[str, Claimed] = {}
        self._live = live
        self._known = known or {}
        self.taken_over = 0
        """Runs that an interrupted campaign had made."""
        self._ended: dict[tuple[str, RunKey], View] = {}
        self._done = 0
        self.broken = ""
        self.faults: list[str] = []
        """Checks that failed, which is nobody's fault but ours."""
        self.stop = threading.Event()
        self.leftovers = Leftovers()

    def measure(self) -> None:
        """Make every run, once; what depends on how others went comes after them."""
        if self._measured:
            return
        self._measured = True
        self.broken = self._control()
        if self.broken:
            return
        again = self._second_runs
        for runs in _in_stages(self.plan.runs, live=self._live):
            self._run(runs, lambda spec, view: again[spec.adapter].look(view))
        self._run([run for found in again.values() for run in found.runs()])
        if self._sweep is not None:
            self._run([run for spec in self.adapters for run in self._points(self._sweep, spec)])

    def _points(self, sweep: Sweep, spec: str) -> Iterator[RunSpec]:
        return sweep.runs(self.plan, spec, self.adapters[spec], self._views[spec])

    def _run(self, runs: Sequence[RunSpec], look: Callable[[RunSpec, View], None] = lambda spec, view: None) -> None:
        """Make these runs, and once more those that came to nothing for the real service; `look` sees each that counts
        as it ends, while others go on."""
        failed = self._run_once(runs, look, again=True)
        if failed:
            self._run_once(failed, look, again=False)
        for spec in runs:  # in the plan's order, whatever order they ended in
            self._views[spec.adapter].append(self._ended.pop((spec.adapter, spec.key)))

    def _run_once(
        self, runs: Sequence[RunSpec], look: Callable[[RunSpec, View], None], *, again: bool
    ) -> list[RunSpec]:
        """Make these runs; those that the service failed, if they can be made `again`."""
        total = self._done + len(runs)
        runs = [spec for spec in runs if not self._take_over(spec, look)]
        self._progress.stage("runs")
        failed: list[RunSpec] = []

        def store_run(spec: RunSpec, transcript: Transcript) -> None:
            self._done += 1
            self.leftovers.add(self.adapters[spec.adapter].name, transcript.end)
            self._progress(self._done, total, self._name(spec))
            if again and transcript.end.how == "service-fault":
                failed.append(spec)
                return
            wire = dialect(self.adapters[spec.adapter].dialect)
            view = View(transcript, wire, spec.scenario, self._store_run(spec, transcript))
            self._ended[spec.adapter, spec.key] = view
            look(spec, view)

        self._runner.run_all(runs, store_run, self.stop, on_begin=lambda spec: self._progress.started(self._name(spec)))
        return failed

    def _take_over(self, spec: RunSpec, look: Callable[[RunSpec, View], None]) -> bool:
        """Whether an interrupted campaign has made this run."""
        subject = self.adapters[spec.adapter]
        line = self._known.get((subject.name, spec.key))
        if line is None:
            return False
        self._done += 1
        self.taken_over += 1
        if self._writer is not None:
            self._writer.write(line)
        view = View(self._store.get(line.digest), dialect(subject.dialect), spec.scenario, line.digest)
        self._ended[spec.adapter, spec.key] = view
        look(spec, view)
        return True

    def _name(self, spec: RunSpec) -> str:
        return f"{self.adapters[spec.adapter].name} {spec.key}"

    def views(self, spec: str) -> tuple[View, ...]:
        """The runs of an adapter, in the plan's order; none before they were measured."""
        return tuple(self._views[spec])

    def differing(self, spec: str) -> list[View]:
        """The runs of an adapter in which its paths may differ: those in which they were found to do the same are not
        among them."""
        return self._second_runs[spec].not_the_same(self._views[spec])

    def _store_run(self, spec: RunSpec, transcript: Transcript) -> str:
        """Store a run as it ends, while others go on: an interrupted campaign keeps what it has."""
        digest = self._store.put(transcript)
        if self._writer is not None:
            name = self.adapters[spec.adapter].name
            self._writer.write(
                TranscriptLine(
                    adapter=name,
                    key=transcript.key,
                    digest=digest,
                    how=transcript.end.how,
                    program=program_behind(transcript),
                    processes=processes_behind(transcript),
                    opened=transcript.end.opened,
                )
            )
        return digest

    def verdict(self, item: Item) -> Verdict:
        """The item's verdict; recorded as a result."""
        subject = self.adapters[item.adapter]
        if item.adapter not in self._claimed:
            self._claimed[item.adapter] = Claimed.of_subject(subject, self._scenarios, self._shown)
        claimed = self._claimed[item.adapter]
        verdict = inconclusive(self.broken) if self.broken else self._decide(item, claimed)
        line = ResultLine(
            adapter=subject.name,
            requirement=item.requirement.id,
            path=item.path,
            verdict=verdict,
            decided_on=decided_on(verdict, self._views[item.adapter]),
        )
        self.results.append(line)
        if len(self.results) == 1:
            self._progress.stage("verdicts")
        self._progress.count(verdict.status)
        self._progress(len(self.results), len(self.plan.items), item.id)
        return verdict

    def _decide(self, item: Item, claimed: Claimed) -> Verdict:
        """A check that fails is our fault: it decides nothing, and the others go on."""
        try:
            return decide(item.requirement, item.path, self._views[item.adapter], claimed)
        except HarnessError as error:
            fault = f"a fault of turnproof or of its suite, and none of {self.adapters[item.adapter].name}: {error}"
            self.faults.append(fault)
            return inconclusive(fault)


def _in_stages(runs: Sequence[RunSpec], *, live: Collection[str]) -> list[list[RunSpec]]:
    """The runs at once, but those of the legacy path behind a real service: they are given the other path's answers."""
    late = [run for run in runs if run.adapter in live and run.key.path == "legacy"]
    return [stage for stage in ([run for run in runs if run not in late], late) if stage]


def exit_code(results: Sequence[ResultLine], must: set[str], problems: Sequence[str]) -> int:
    """0 every claimed MUST held, 1 violations (or a problem with accepted ones), 3 nothing measured or undecided."""
    statuses = [line.verdict.status for line in results if line.requirement in must]
    if problems or Status.VIOLATED in statuses:
        return 1
    if Status.INCONCLUSIVE in statuses:
        return 3
    measured = any(line.verdict.status in (Status.HELD, Status.KNOWN_ISSUE) for line in results)
    return 0 if measured else 3


def program_behind(transcript: Transcript) -> str:
    """What the program calls itself, with its version; empty where none was told."""
    return next((event.program for event in transcript.of(SessionInForce) if event.program), "")


def processes_behind(transcript: Transcript) -> Processes | None:
    """The processes that were counted when the agent was shut down; None for what is no agent, or was not shut down."""
    counted = next(iter(transcript.of(LeftBehind)), None)
    if counted is None:
        return None
    killed = sum(event.processes for event in transcript.of(Killed))
    return Processes(started=counted.started, killed=killed, left=len(counted.processes))
