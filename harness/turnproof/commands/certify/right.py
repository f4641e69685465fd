"""`turnproof mutants --right`: change an adapter in ways that keep the meaning; see whether anything accuses it.

The control, the adapter unchanged, makes the same runs. What was held for it must be held for each right adapter.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec

import msgspec

from ..._base.counts import counted
from ..._base.depth import DEFAULT_DEPTH
from ..._base.exit_codes import Exit
from ..._base.suggestions import did_you_mean
from ...dialects import api_of
from ...errors import CatalogueError
from ...judge.requirements import REGISTRY, Level, load_suite
from ...judge.verdict import Status
from ...report.progress import progress
from ...run.bindings import resolve_subject
from ...run.driver import RunSpec
from ...run.driver.mutation import Mutant, mutant_named
from .decide import lacking_for
from .kill_matrix import Bench
from .mutants import Runs, Trial, run_keys
from .options import MutantsOptions
from .scenarios import suite_scenarios

_FINE = (Status.HELD, Status.NOT_CLAIMED)


class RightRow(msgspec.Struct, frozen=True, kw_only=True):
    """One right adapter. `changed` of `runs` differ from the control's; `accused` has what was held for the control and
    is no longer, by `REQUIREMENT [path]`. Without `in_evidence` no run needs to differ."""

    adapter: str
    freedom: str
    runs: int = 0
    changed: int = 0
    accused: dict[str, str] = {}
    left_out: str = ""
    in_evidence: bool = True

    @property
    def measured(self) -> bool:
        """Whether the freedom was taken in a run, as far as evidence can show it."""
        return bool(self.changed) or (not self.in_evidence and bool(self.runs))


def right_adapters() -> dict[str, Mutant]:
    """The right adapters of the installed suites that have some, by the name that a worker finds each under."""
    found: dict[str, Mutant] = {}
    for entry in entry_points(group="turnproof.suites"):
        if find_spec(f"{entry.value}.right") is not None:
            found |= import_module(f"{entry.value}.right").RIGHT
    return found


def right(options: MutantsOptions) -> int:
    """Run the right adapters and print (or, with `json`, print as JSON) what accuses them; the exit code.

    0 when none is accused; 1 when one is; 3 when nothing was measured, or one has no run that differs from the
    control's. `combine` draws so many pairs and triples beside. Raises CatalogueError for a pattern that matches none.
    """
    subject = resolve_subject(options.adapter)
    suite = load_suite()
    scenarios = suite_scenarios(suite)
    trials = []
    for name in _combinations(_selected(options.only), options.combine, options.seed):
        adapter = mutant_named(name)
        lacking = [one for one in adapter.capability if not subject.claims().claims(one)]
        paths = [path for path in subject.paths if path in adapter.paths]
        shown = [one for one in scenarios if any(fnmatchcase(one.name, glob) for glob in adapter.scenarios)]
        shown = [
            one
            for one in shown
            if one.is_in(DEFAULT_DEPTH) and not lacking_for(one, subject.claims(), subject.operations)
        ]
        if adapter.dialects and api_of(subject.dialect) not in adapter.dialects:
            lacking.append(f"the wire API of {' or '.join(adapter.dialects)}")
        if lacking or not paths or not shown:
            why = ", ".join(lacking) or (f"the {' or '.join(adapter.paths)} path" if not paths else "a scenario")
            trials.append(Trial(name, adapter, left_out=why))
            continue
        specs = [RunSpec(options.adapter, one, key, name) for one in shown for key in run_keys(subject, one, paths)]
        trials.append(Trial(name, adapter, tuple(specs)))
    with progress("right adapters") as tracker:
        runs = Runs(tracker)
        runs.make(options, subject, trials)
    requirements = tuple(
        one for one in suite.requirements if one.concerns(subject.kind) and not one.lacks(subject.claims())
    )
    rows = [_row(trial, Bench(subject, requirements, runs.control), runs) for trial in trials]
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
    else:
        _print(rows)
    if any(row.accused for row in rows):
        return Exit.VIOLATIONS
    measured = [row for row in rows if not row.left_out]
    return Exit.OK if measured and all(row.measured for row in measured) else Exit.UNDECIDED


def _selected(only: Sequence[str]) -> list[str]:
    known = {mutant.name: name for name, mutant in right_adapters().items()}
    if not only:
        return list(known.values())
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise CatalogueError(f"no right adapter matches {pattern!r}{did_you_mean(pattern, known)}")
    return [known[name] for name in known if any(fnmatchcase(name, pattern) for pattern in only)]


def _combinations(names: Sequence[str], count: int, seed: int) -> list[str]:
    """The names, and so many pairs and triples of them, drawn by the seed."""
    generator = random.Random(seed)
    several = [generator.sample(names, min(len(names), generator.choice((2, 3)))) for _ in range(count)]
    return [*names, *dict.fromkeys("+".join(some) for some in several)]


def _row(trial: Trial, bench: Bench, runs: Runs) -> RightRow:
    name, mutant = _short(trial.name), trial.mutant
    if not trial.runs:
        return RightRow(adapter=name, freedom=mutant.breaks, left_out=trial.left_out)
    own = runs.broken[trial.name]
    control = {key: bench.control[key] for key in own}
    before, after = bench.judge(control.values()), bench.judge(own.values())
    must = {one.id for one in bench.requirements if one.level is Level.MUST}
    accused = {
        f"{requirement} [{path}]": f"{verdict.status}: {REGISTRY.message(verdict)}"
        for (requirement, path), verdict in after.items()
        if verdict.status not in _FINE
        and before[requirement, path].status is Status.HELD
        and (requirement in must or verdict.status is Status.VIOLATED)
    }
    changed = sum(view.digest != control[key].digest for key, view in own.items())
    return RightRow(
        adapter=name,
        freedom=mutant.breaks,
        runs=len(own),
        changed=changed,
        accused=accused,
        in_evidence=mutant.in_evidence,
    )


def _short(name: str) -> str:
    """The names that people use, of one or of several."""
    known = right_adapters()
    return " + ".join(known[one].name for one in name.split("+"))


def _runs(row: RightRow) -> str:
    if not row.changed and not row.in_evidence:
        return f"{counted(row.runs, 'run')}, and evidence does not have what differs"
    return f"{row.changed} of {counted(row.runs, 'run')} changed"


def _print(rows: Iterable[RightRow]) -> None:
    for row in rows:
        mark = "–" if row.left_out else "✗" if row.accused else "✓" if row.measured else "?"
        rest = f"not claimed: {row.left_out}" if row.left_out else _runs(row)
        sys.stdout.write(f"{mark} {row.adapter}: {rest}\n")
        for place, why in row.accused.items():
            sys.stdout.write(f"    {place}  {why}\n")
    measured = [row for row in rows if not row.left_out]
    accused = sum(bool(row.accused) for row in measured)
    sys.stdout.write(f"{counted(len(measured), 'right adapter')}, {accused} accused\n")
