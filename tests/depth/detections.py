"""What each scenario by itself detects, and what it costs: measured of one adapter."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import psutil

from turnproof.commands.certify.decide import lacking_for
from turnproof.commands.certify.kill_matrix import Bench, Judge, Outcome
from turnproof.commands.certify.mutants import Runs, Trial, run_keys
from turnproof.commands.certify.mutants import plan as plan_mutants
from turnproof.commands.certify.options import MutantsOptions
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.cli.prestart import prepare_workers
from turnproof.judge.requirements import Suite, load_suite
from turnproof.report.progress import progress
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.mutation import Mutant, all_mutants
from turnproof.scenarios.model import Scenario
from turnproof.subject import Subject

EVERYWHERE = "tests.depth.everywhere"


class Detections(msgspec.Struct, frozen=True, kw_only=True):
    """One adapter's: what each scenario costs, and which mutants it detects by itself.

    `seconds` are those of the processor in all runs of a scenario that a certification makes. `caught` has the
    scenarios that detect a mutant by the requirement that has to, `missed` those that were tried and do not.
    """

    adapter: str
    seed: int
    at_most: int
    seconds: dict[str, float]
    caught: dict[str, tuple[str, ...]]
    missed: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Which scenarios a mutant is tried in: its own, and `at_most` others that show its requirement, drawn by `seed`.

    `always` are tried as far as they show it, whatever is drawn.
    """

    at_most: int
    seed: int
    always: frozenset[str] = frozenset()

    def scenarios(self, mutant: Mutant, own: Iterable[str], showing: Iterable[str]) -> list[str]:
        chosen = list(dict.fromkeys(own))
        others = sorted(set(showing) - set(chosen))
        chosen += [name for name in others if name in self.always]
        rest = [name for name in others if name not in self.always]
        # By the name of the mutant, so that one mutant more changes no draw of another.
        random.Random(f"{self.seed} {mutant.name}").shuffle(rest)
        return chosen + rest[: self.at_most]


def measure(name: str, sample: Sample, only: Sequence[str] = (), jobs: int = 1) -> Detections:
    """Break an adapter in every way that the suites know, in each scenario of the sample by itself."""
    suite, subject = load_suite(), resolve_subject(name)
    prepare_workers((name,))
    scenarios = {one.name: one for one in suite_scenarios(suite) if fits(one, subject)}
    trials = list(trials_of(name, subject, suite, scenarios, sample, only))
    seconds = costs(name, subject, scenarios.values(), sample.seed)
    with progress("detections") as tracker:
        runs = Runs(tracker)
        runs.make(MutantsOptions(name, seed=sample.seed, jobs=jobs), subject, trials)
    detections: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    for trial in trials:
        plain = trial.name.partition(":")[2] or trial.name
        judge = Judge(Bench(subject, (suite.catalogue[trial.mutant.caught_by],), runs.control))
        for scenario in dict.fromkeys(spec.scenario.name for spec in trial.runs):
            views = {key: view for key, view in runs.broken[trial.name].items() if key.scenario == scenario}
            found = judge.row(trial.mutant, views).outcome
            (detections if found is Outcome.CAUGHT else missed)[plain].append(scenario)
    return Detections(
        adapter=name,
        seed=sample.seed,
        at_most=sample.at_most,
        seconds=seconds,
        caught={mutant: tuple(names) for mutant, names in sorted(detections.items())},
        missed={mutant: tuple(names) for mutant, names in sorted(missed.items())},
    )


def fits(scenario: Scenario, subject: Subject) -> bool:
    """Whether a certification of an adapter makes runs of this scenario, at any depth."""
    return scenario.subject == "adapter" and not lacking_for(scenario, subject.claims(), subject.operations)


def trials_of(
    name: str, subject: Subject, suite: Suite, scenarios: Mapping[str, Scenario], sample: Sample, only: Sequence[str]
) -> Iterator[Trial]:
    """The mutants that can break this adapter, each with the runs of its sample, on its first path."""
    chosen = {one: mutant for one, mutant in all_mutants().items() if not only or one in only}
    chosen = {one: mutant for one, mutant in chosen.items() if of_adapters(mutant, suite)}
    for trial in plan_mutants(name, subject, suite, suite_scenarios(suite), chosen):
        if not trial.runs:
            continue
        if trial.mutant.fails == "hangs":  # each of its runs lasts as long as the limit
            yield trial
            continue
        own = [spec.scenario.name for spec in trial.runs]
        requirement = suite.catalogue[trial.mutant.caught_by]
        showing = suite.shown.scenarios(requirement.id, subject.dialect) if suite.shown is not None else {}
        path = trial.runs[0].key.path
        wide = f"{EVERYWHERE}:{trial.name}"
        specs = [
            RunSpec(name, scenarios[one], key, wide)
            for one in sample.scenarios(trial.mutant, own, [one for one in showing if one in scenarios])
            for key in run_keys(subject, scenarios[one], [path])
        ]
        yield Trial(wide, trial.mutant, tuple(specs))


def of_adapters(mutant: Mutant, suite: Suite) -> bool:
    return mutant.seam != "agent" and suite.catalogue[mutant.caught_by].subject == "adapter"


def costs(name: str, subject: Subject, scenarios: Iterable[Scenario], seed: int) -> dict[str, float]:
    """Seconds of the processor for each scenario, in all runs that a certification makes of it."""
    found: dict[str, float] = {}
    with Runner(jobs=1, seed=seed) as runner:
        for number, scenario in enumerate(scenarios):
            specs = [RunSpec(name, scenario, key) for key in run_keys(subject, scenario, subject.paths)]
            if not number:
                runner.run(specs[0])  # the first run of all pays for imports
            before = processor_seconds()
            for spec in specs:
                runner.run(spec)
            found[scenario.name] = round(processor_seconds() - before, 4)
    return found


def processor_seconds() -> float:
    """Seconds of the processor that this process and all that it started have used."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def joined(first: Detections, second: Detections) -> Detections:
    """Two measurements of one adapter as one; the costs are the first one's."""
    detections = {
        mutant: tuple(dict.fromkeys((*first.caught.get(mutant, ()), *second.caught.get(mutant, ()))))
        for mutant in sorted({*first.caught, *second.caught})
    }
    missed = {
        mutant: tuple(dict.fromkeys((*first.missed.get(mutant, ()), *second.missed.get(mutant, ()))))
        for mutant in sorted({*first.missed, *second.missed})
    }
    return msgspec.structs.replace(first, caught=detections, missed=missed)
