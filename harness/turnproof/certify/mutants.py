"""`turnproof mutants`: break an adapter on purpose, in every way that the suites know, and see what notices.

The control, the adapter unbroken, runs the same scenarios first. Mutants that hang have a lab of their own, where
nobody waits long for them.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from .. import __version__
from .._suggest import did_you_mean
from ..bindings import resolve_binding
from ..dialects import dialect
from ..driver import Lab, RunSpec
from ..driver.mutation import Mutant, all_mutants, mutant_named
from ..errors import CatalogueError
from ..evidence import digest
from ..exits import Exit
from ..provider import Binding
from ..requirements import Suite, load_suite
from ..scenarios.model import Scenario
from ..transcript import RunKey, Transcript
from ..view import View
from .kill_matrix import Bench, Judge, Matrix, Outcome, Row, not_claimed_row, standings
from .kill_matrix_text import print_matrix
from .options import MutantsOptions
from .scenarios import suite_scenarios

HANG_LIMIT = 3.0
"""Seconds that a mutant made to hang is waited for."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant and the runs it is to break. `left_out` says why there are none."""

    mutant: Mutant
    runs: tuple[RunSpec, ...] = ()
    left_out: str = ""


@dataclass(slots=True)
class _Runs:
    """All runs that were made: the control's by key, the mutants' by name and key."""

    control: dict[RunKey, View] = field(default_factory=dict)
    broken: dict[str, dict[RunKey, View]] = field(default_factory=dict)

    def keep(self, spec: RunSpec, transcript: Transcript) -> None:
        view = View(transcript, dialect(transcript.dialect), spec.scenario, digest(transcript))
        if spec.mutant is None:
            self.control[spec.key] = view
        else:
            self.broken.setdefault(spec.mutant, {})[spec.key] = view


def mutants(options: MutantsOptions) -> int:
    """Run the mutants, print the kill matrix (or JSON), write `mutants.json`, and return the exit code.

    0 when every mutant was caught; 1 for a survivor, a crash, a mutant that never broke anything, or a control that
    does not hold; 2 when a check or the harness failed on one; 3 when nothing was measured. Raises UsageError for
    adapters and mutants that do not exist, and for mutants that do not fit the suite.
    """
    started = time.monotonic()
    suite = load_suite()
    binding = resolve_binding(options.adapter)
    chosen = select(options.only)
    trials = plan(options.adapter, binding, suite, suite_scenarios(suite), chosen)
    runs = _run(options, trials)
    claims = binding.claims()
    requirements = tuple(one for one in suite.requirements if not one.lacks(claims))
    judge = Judge(Bench(binding, requirements, runs.control))
    rows = tuple(_row(judge, trial, runs) for trial in trials)
    control = judge.violations(runs.control)
    code = exit_code(rows, control)
    matrix = Matrix(
        turnproof=__version__,
        adapter=binding.name,
        dialect=binding.dialect,
        model=binding.model,
        seed=options.seed,
        duration_s=round(time.monotonic() - started, 3),
        exit_code=code,
        counts={str(one): count for one in Outcome if (count := sum(row.outcome is one for row in rows))},
        control=control,
        mutants=rows,
        requirements=standings(requirements, rows),
    )
    data = msgspec.json.format(msgspec.json.encode(matrix), indent=2)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "mutants.json").write_bytes(data + b"\n")
    if options.json:
        print(data.decode())
    else:
        print_matrix(matrix, sys.stdout)
    return code


def select(only: Sequence[str]) -> list[Mutant]:
    """The mutants asked for: all, or those whose names match; anybody's own by `module:attribute`.

    Raises CatalogueError for a pattern that matches none.
    """
    if not only:
        return list(all_mutants().values())
    found: dict[str, Mutant] = {}
    for pattern in only:
        if ":" in pattern:
            found[pattern] = msgspec.structs.replace(mutant_named(pattern))
            continue
        known = all_mutants()
        matching = {name: mutant for name, mutant in known.items() if fnmatchcase(name, pattern)}
        if not matching:
            raise CatalogueError(f"no mutant matches {pattern!r}{did_you_mean(pattern, known)}")
        found |= matching
    return list(found.values())


def plan(
    adapter: str, binding: Binding, suite: Suite, scenarios: Sequence[Scenario], chosen: Iterable[Mutant]
) -> list[Trial]:
    """The runs of each mutant: its scenarios, on its paths, in every mode, as far as the adapter claims them.

    Raises CatalogueError for a mutant that names no requirement of the suite, or no scenario.
    """
    claims = binding.claims()
    paths = [path for path in ("stateless", "legacy") if binding.opener(path) is not None]
    trials = []
    for mutant in chosen:
        requirement = suite.catalogue[mutant.caught_by]
        mine = [one for one in scenarios if any(fnmatchcase(one.name, glob) for glob in mutant.scenarios)]
        if not mine:
            raise CatalogueError(f"mutant {mutant.name!r}: no scenario matches {' or '.join(mutant.scenarios)}")
        lacking = [*requirement.lacks(claims), *(name for name in mutant.capability if not claims.claims(name))]
        lacking += [name for one in mine for name in one.features if not claims.claims(name)]
        on = [path for path in paths if path in mutant.paths and path in requirement.paths]
        if lacking or not on:
            reason = ", ".join(dict.fromkeys(lacking)) or f"the {' or '.join(mutant.paths)} path"
            trials.append(Trial(mutant, left_out=f"the adapter does not claim {reason}"))
            continue
        runs = [
            RunSpec(adapter, scenario, key, mutant.name)
            for scenario in mine
            for mode in _modes(mutant, scenario, claims.streaming)
            for path in on
            for key in _keys(scenario.name, path, mode, again=len(paths) == 2 and mutant.fails != "hangs")
        ]
        trials.append(Trial(mutant, tuple(runs)))
    return trials
