"""`python -m tests.live.mutant_sample ADAPTER [--backend live] [--every 9]`: which broken adapters a live run finds.

A model that draws its words cannot be asked for what a mutant needs, so a live run finds fewer of them than an emulated
one. The sample is the same for both.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import get_args

from turnproof.commands.certify.kill_matrix import Bench, Judge, Row, not_claimed_row
from turnproof.commands.certify.mutants import Runs, Trial, plan, run_keys
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.report.progress import progress
from turnproof.run.backends import Backends, Choice
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Backend, RunSpec
from turnproof.run.driver.mutation import all_mutants
from turnproof.run.places import run_place


def sample(adapter: str, backend: Backend, every: int) -> list[Row]:
    """How every n-th mutant of an adapter ends, against its own control; those that hang for good are left out."""
    suite, subject = load_suite(), resolve_subject(adapter)
    fit = {
        name: mutant
        for name, mutant in all_mutants().items()
        if mutant.fails is None and mutant.seam not in ("session", "agent")
    }
    chosen = dict(list(fit.items())[::every])
    trials: list[Trial] = plan(adapter, subject, suite, suite_scenarios(suite), chosen)
    broken = [spec for trial in trials for spec in trial.runs]
    scenes = {spec.scenario.name: spec.scenario for spec in broken}
    keys = {key: scene for scene in scenes.values() for key in run_keys(subject, scene, subject.paths)}
    control = [RunSpec(adapter, scene, key) for key, scene in keys.items()]
    backends = Backends({adapter: Choice(backend)})
    backends.prepare(adapter, subject, set())
    with progress("mutants") as tracker, run_place(None, {adapter: subject}, responders=backends) as place:
        runs = Runs(tracker)
        runs.total = len(control) + len(broken)
        place.run_all((*control, *broken), runs.add_run)
    requirements = tuple(
        one for one in suite.requirements if one.concerns(subject.kind) and not one.lacks(subject.claims())
    )
    judge = Judge(Bench(subject, requirements, runs.control))
    return [
        judge.row(one.mutant, runs.broken[one.name]) if one.runs else not_claimed_row(one.mutant, one.left_out)
        for one in trials
    ]


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Run a sample of broken adapters behind a backend.")
    words.add_argument("adapter")
    words.add_argument("--backend", choices=get_args(Backend), default="live")
    words.add_argument("--every", type=int, default=9)
    options = words.parse_args()
    rows = sample(options.adapter, options.backend, options.every)
    counts = Counter(str(row.outcome) for row in rows)
    missed = sorted(f"{row.mutant}: {row.outcome}" for row in rows if row.outcome not in ("caught", "not-claimed"))
    print(json.dumps({"counts": counts, "missed": missed}))
