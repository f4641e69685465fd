"""What every file of a finding needs, whatever it asks the library: words, packages, and a Python to try it with."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ...judge.requirements import load_suite
from ...scenarios import load
from ...scenarios.model import Scenario
from ...scenarios.sweep import scenario_named
from ..certify.scenarios import suite_scenarios
from .file_source import FindingSummary
from .packages import are_installed, clean_python, requirements
from .run_findings import Found, UnreproducibleError
from .trial import Trial, try_file


@dataclass(frozen=True)
class Reproduction:
    """A file that shows a finding. `requirements` are what a clean environment needs; `paths` are the folders with
    modules of an adapter that is installed nowhere."""

    source: str
    trial: Trial
    found: Found
    requirements: tuple[str, ...]
    paths: tuple[str, ...]

    def check(self) -> Trial:
        """Run the file in a clean environment, which has what it needs and nothing else."""
        return _try_source(self.source, clean_python(self.requirements), self.paths)


@dataclass(frozen=True)
class TrialEnvironment:
    """Where the files of a finding are tried: a Python with the packages of the run, and folders beside them."""

    requirements: tuple[str, ...]
    python: Path
    paths: tuple[str, ...] = ()

    @classmethod
    def with_packages(cls, packages: Sequence[str], found: Found, paths: tuple[str, ...] = ()) -> TrialEnvironment:
        """One that has these packages in the versions of the run: this Python, if it has them."""
        certified = found.run.header.environment.packages
        needed = requirements(packages, certified)
        ready = are_installed(packages, certified)
        return cls(needed, Path(sys.executable) if ready else clean_python(needed), paths)

    def try_source(self, source: str) -> Trial:
        """Run a file."""
        return _try_source(source, self.python, self.paths)

    def reproduction(self, source: str, trial: Trial, found: Found) -> Reproduction:
        """A file that has shown a finding here."""
        return Reproduction(source, trial, found, self.requirements, self.paths)


def scenario_of(found: Found) -> Scenario:
    """The scenario of the finding's run. Raises UsageError where its suite has it no more."""
    name = found.finding.place.scenario
    own = {scenario.name: scenario for scenario in map(load, map(Path, found.run.header.files))}
    scenario = scenario_named(name, {**{one.name: one for one in suite_scenarios(load_suite())}, **own})
    if scenario is None:
        raise UsageError(f"scenario {name!r} of this run is no longer part of its suite")
    return scenario


def summary_of(found: Found, library: str, needed: tuple[str, ...]) -> FindingSummary:
    """The words of a finding, for the file that shows it."""
    words = found.run.words(found.finding)
    place, header = found.finding.place, found.run.header
    origin = f"{found.finding.code} in {place.run} with {found.adapter.model}, found by turnproof {header.turnproof}."
    return FindingSummary(library, words.title or words.got, words.expected or words.title, origin, needed)


def not_shown(trial: Trial, found: Found) -> UnreproducibleError:
    """Why a file that was tried shows nothing."""
    if trial.is_gone:
        return UnreproducibleError(
            f"the library alone does not show it in {found.finding.place.run} ({trial.sentence}): "
            f"look at the {found.adapter.kind}, or at its binding"
        )
    return UnreproducibleError(f"the library alone could not be asked in {found.finding.place.run}: {trial.sentence}")


def _try_source(source: str, python: Path, paths: tuple[str, ...]) -> Trial:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reproducer.py"
        file.write_text(source, "utf-8")
        return try_file(python, file, paths)
