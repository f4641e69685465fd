"""Makes the runs of a gate: every scenario, once for each way in which the migration flag may stand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..._base.environment import environment_with
from ...judge.requirements import Suite
from ...judge.run_log import RunWriter
from ...judge.view import View
from ...report.begin_run import begin_run
from ...report.progress import place_reports, progress
from ...run.backends import Backends
from ...run.bindings import subject_of
from ...run.cluster.options import ClusterOptions
from ...run.driver import RunSpec, Watch
from ...run.driver.limits import limits_of
from ...run.evidence import EvidenceStore
from ...run.places import run_place
from ...run.transcript import RunKey
from ...scenarios import Scenario
from ...subject import Subject
from ..certify.campaign import Campaign
from ..certify.decide import lacking_for
from ..certify.plan import Plan
from ..certify.run_head import adapter_line, header
from .flag import FlagPlan
from .gate_run_store import GateRunStore
from .options import GateOptions
from .phases import FIRST_WITHOUT_FLAG, WATCHING, Criterion, Setting


@dataclass(frozen=True, slots=True)
class Candidate:
    """A subject with its flag, the scenarios that it can be run on, and how many it cannot, by what it lacks."""

    spec: str
    subject: Subject
    flag: FlagPlan
    scenarios: tuple[Scenario, ...]
    left_out: Counter[str]

    @classmethod
    def of(cls, spec: str, subject: Subject, flag: FlagPlan, scenarios: Sequence[Scenario]) -> Candidate:
        """Sort the scenarios. Those about sessions alone are among them: what migrates is always a session.

        One that goes over to the other path of its own accord says nothing of a flag.
        """
        scenarios = [one for one in scenarios if "other_path" not in one.operations]
        lacking = {one.name: lacking_for(one, subject.claims(), subject.operations) for one in scenarios}
        fit = tuple(one for one in scenarios if not lacking[one.name])
        return cls(spec, subject, flag, fit, Counter(", ".join(what) for what in lacking.values() if what))

    def runs(self, setting: Setting, phase: int, times: int, watch: Watch) -> Iterator[RunSpec]:
        """Its runs with this setting of the flag, each so many times. Everything is watched in the first alone."""
        path = self.flag.path(setting, phase)
        # What is run elsewhere in all modes is run here in one: which path is taken does not hang on that.
        aside = "off" if phase >= FIRST_WITHOUT_FLAG else "default"
        for scenario in self.scenarios:
            modes = scenario.modes_with(self.subject.claims().streaming)
            for mode in modes[:1] if setting == aside else modes:
                for repeat in range(times):
                    key = RunKey(scenario.name, path, mode, repeat)
                    yield RunSpec(self.spec, scenario, key, flag=self.flag.flag, watch=watch)
                    watch = "session" if watch == "everything" else watch


def adapter_name(spec: str, subject: Subject) -> str | None:
    """The name by which a worker finds the adapter under a session; None where it has none."""
    session, at, adapter = spec.partition("@")
    if at:
        return adapter
    bound = subject.session.adapter
    if isinstance(bound, str):
        return bound
    return f"{session}.adapter" if ":" in session else None


_FEW = 100


@dataclass(frozen=True, slots=True)
class GateRunner:
    """Where the runs of a gate are made: on a `cluster`, if there is one. `run_store` has an interrupted gate's."""

    options: GateOptions
    suite: Suite
    scenarios: Sequence[Scenario]
    backends: Backends
    cluster: ClusterOptions | None = None
    run_store: GateRunStore | None = None

    def head(self, candidates: Mapping[str, Candidate], writer: RunWriter) -> str:
        """Begin a file of runs; when that was."""
        subjects = {spec: candidate.subject for spec, candidate in candidates.items()}
        first = header(self.suite, subjects.values(), self.backends, self.options, compares="paths")
        writer.write(first)
        for spec, subject in subjects.items():
            writer.write(adapter_line(spec, subject, self.backends, self.scenarios))
        return first.started

    def measure(
        self,
        candidate: Candidate,
        setting: Setting,
        times: int,
        watch: Watch,
        writer: RunWriter,
        store: EvidenceStore,
    ) -> list[View]:
        """Make the runs of a candidate with this setting of the flag, in workers that know it no other way."""
        options, flag, subject = self.options, candidate.flag, candidate.subject
        plan = Plan((), tuple(candidate.runs(setting, options.phase, times, watch)))
        environment = {flag.flag.variable: flag.value(setting)}
        with environment_with(environment), progress("gate") as tracker:
            place = run_place(
                self.cluster,
                {candidate.spec: subject},
                # A second process takes longer to start than to make a hundred runs.
                jobs=options.jobs or (2 if len(plan.runs) > _FEW else 1),
                seed=options.seed,
                in_process=options.in_process,
                responders=self.backends,
                limits=limits_of(options.config.settings.workers),
                reports=place_reports(tracker),
                environment=environment,
                names={candidate.spec: subject.name} if "@" in subject.name else {},
            )
            runner = place if self.run_store is None else self.run_store.place(place, environment)
            campaign = Campaign(
                plan, {candidate.spec: subject}, runner, store, self.scenarios, writer, progress=tracker
            )
            with runner:
                runner.warm(subject.modules)
                try:
                    campaign.measure()
                except KeyboardInterrupt:
                    campaign.stop.set()
                    raise
        return list(campaign.views(candidate.spec))

    def measure_adapter(
        self, candidate: Candidate, setting: Setting, writer: RunWriter, store: EvidenceStore
    ) -> list[View]:
        """Make the runs of a candidate's adapter by itself in which its calls are made again. None where nothing can be
        opened by the adapter's binding, or it has no name by which a worker finds it."""
        name = adapter_name(candidate.spec, candidate.subject)
        if name is None or candidate.subject.adapter.open_stateless is None:
            return []
        subject = subject_of(candidate.subject.adapter)
        probed = [scenario for scenario in candidate.scenarios if scenario.probes]
        adapter = Candidate.of(name, subject, candidate.flag, probed)
        self.backends.answer_alike(name, candidate.spec)
        writer.write(adapter_line(name, subject, self.backends, self.scenarios))
        return self.measure(adapter, setting, 1, "nothing", writer, store)


@dataclass
class Runs:
    """The runs of a gate: `first` by subject and setting of the flag, `again` the second ones with the flag off.

    `alone` are those of its adapter by itself, where criteria are about it and the session shows no calls of its
    provider.

    `writers` are the files that they were written to, by folder, still without their last line. Runs with the flag not
    set have a folder of their own: they are on the path that the off or the on ones are on, and would pass for theirs.
    Where the flag is gone, those with the flag off have one.
    """

    started: str = ""
    first: dict[str, dict[Setting, list[View]]] = field(default_factory=lambda: defaultdict(dict))
    again: dict[str, list[View]] = field(default_factory=lambda: defaultdict(list))
    alone: dict[str, list[View]] = field(default_factory=lambda: defaultdict(list))
    writers: dict[Path, RunWriter] = field(default_factory=dict)

    @classmethod
    def make(
        cls,
        laboratory: GateRunner,
        candidates: Mapping[str, Candidate],
        criteria: Sequence[Criterion],
        folder: Path,
        files: ExitStack,
    ) -> Runs:
        """Make the runs that these criteria read. `files` closes what is opened here."""
        runs = cls()
        reading = [criterion for criterion in criteria if criterion.check != "existing-tests"]
        used_settings = {setting for criterion in reading for setting in criterion.flag}
        compared = any(criterion.check == "paths-agree" for criterion in reading)
        watched = {setting for criterion in reading if criterion.check in WATCHING for setting in criterion.flag}
        of_adapter = {setting for criterion in reading if criterion.of_adapter for setting in criterion.flag}
        phase = laboratory.options.phase
        for group, place in (_PLACES if phase < FIRST_WITHOUT_FLAG else _PLACES_WITHOUT_FLAG).items():
            settings = [setting for setting in group if setting in used_settings]
            if not settings:
                continue
            store = EvidenceStore(folder / place / "evidence")
            writer = files.enter_context(begin_run(folder / place, store))
            runs.writers[folder / place] = writer
            runs.started = laboratory.head(candidates, writer)
            for spec, candidate in candidates.items():
                for setting in settings:
                    times = 2 if compared and setting == "off" else 1
                    watch: Watch = (
                        "nothing"
                        if setting not in watched
                        else "everything"
                        if phase >= FIRST_WITHOUT_FLAG
                        else "session"
                    )
                    views = laboratory.measure(candidate, setting, times, watch, writer, store)
                    runs.first[spec][setting] = [view for view in views if view.key.repeat == 0]
                    runs.again[spec] += [view for view in views if view.key.repeat]
                    if setting in of_adapter and not any(view.calls for view in views):
                        runs.alone[spec] = laboratory.measure_adapter(candidate, setting, writer, store)
        return runs


_PLACES: Mapping[tuple[Setting, ...], str] = {("default",): "default", ("off", "on"): ""}
_PLACES_WITHOUT_FLAG: Mapping[tuple[Setting, ...], str] = {("off",): "off", ("default",): ""}
