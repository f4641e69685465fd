"""An exploration while it happens: its options, what is known already, what was found, and what a finding becomes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from ..._base.settings import Config
from ..._base.whole_files import write_whole
from ...errors import HarnessError, ScenarioError
from ...judge.parity import kind as kind_of_difference
from ...judge.requirements import Requirement
from ...judge.verdict import Status
from ...provider import Path as ProviderPath
from ...report._inline_text import file_name
from ...scenarios import Scenario, from_data, load, to_yaml
from ...scenarios.documents import Document
from ..certify.decide import lacking_for
from ..place_options import PlaceOptions
from .report import FoundScenario, Unsteady
from .shrink import smallest
from .trial import Failure, ScenarioTrial


@dataclass(frozen=True, slots=True)
class ExploreOptions(PlaceOptions):
    """Everything an exploration depends on. Two with equal options and packages try the same scenarios.

    subject:    an adapter or a session: an installed name, `module:attribute` or `SESSION@ADAPTER`.
    examples:   how many scenarios are tried.
    seed:       all of them follow from it.
    most:       how many findings are enough: the search ends with the last of them.
    only, skip: requirement ids or shell patterns of them. Without `only`, those that are MUSTs decide.
    path:       `stateless` or `legacy` alone, or None for both and their parity.
    out:        the folder that gets `explored/<name>.yaml` for each finding; made when there is one.
    resume:     keeps the runs that it makes in `out` as well.
    in_process: run the subject in this process instead of in workers, for debugging.
    config:     the project's settings; its known issues are not found again, its declared differences are no findings.
    """

    subject: str
    examples: int = 300
    most: int = 5
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    path: ProviderPath | None = None
    out: Path = Path("reports")
    in_process: bool = False
    config: Config = field(default_factory=Config)


Progress = Callable[[int, int, str], None]

FOLDER: Final = "explored"
"""The folder of the files that are written. It is part of their scenarios' names, by which requirements know them."""

_MEANT = "If it is meant, declare it in the binding or in the settings, with the reason; else one path is wrong."


def _content(scenario: Scenario) -> bytes:
    """What a scenario says, to be compared: messages of a given conversation are equal to themselves alone."""
    return msgspec.json.encode(replace(scenario, file=""))


class Exploring:
    """Tries scenarios on a bench; `findings`, `unsteady` and `examples` say how far it has come.

    `control` is the bench of an adapter that is right on sight: what fails there, too, is nobody's fault but ours. None
    where there is no such adapter to ask. The runs of so many scenarios `ahead` are made at a time.
    """

    def __init__(
        self,
        options: ExploreOptions,
        bench: ScenarioTrial,
        control: ScenarioTrial | None,
        requirements: Mapping[str, Requirement],
        progress: Progress = lambda done, total, what: None,
        ahead: int = 1,
    ) -> None:
        self.bench = bench
        self.examples = 0
        self.findings: list[FoundScenario] = []
        self.unsteady: list[Unsteady] = []
        self._options = options
        self._control = control
        self._requirements = requirements
        self._progress = progress
        self._ahead = ahead
        self._known: set[tuple[str, Status]] = set()
        self._stem = f"{file_name(bench.subject.name)}-{options.seed}"
        self._tried: Document = {}

    def run(self, documents: Iterable[Document]) -> None:
        """Try these scenarios, one after the other, until there were enough of them, or enough was found."""
        for document in self._prepared(islice(iter(documents), self._options.examples)):
            self.examples += 1
            self._report_progress("")
            name = self._name(self.examples)
            try:
                self._try(name, document)
            except HarnessError as error:
                file = self._write(name, self._tried, [f"turnproof itself failed: {error}"])
                raise HarnessError(f"turnproof itself failed on {file}: {error}") from error
            if len(self.findings) >= self._options.most:
                return

    def _prepared(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents, the runs of the next ones made together where that is quicker."""
        if self._ahead == 1:
            yield from documents
            return
        while group := list(islice(documents, self._ahead)):
            scenarios = [from_data(each, self._name(self.examples + at)) for at, each in enumerate(group, start=1)]
            self.bench.prepare(scenarios)
            yield from group

    def _name(self, number: int) -> str:
        """The name of a scenario. Ids and pieces of a run follow from it: only under it does a file do the same."""
        return f"{FOLDER}/{self._stem}-{number}"

    def _try(self, name: str, document: Document) -> None:
        scenario = self._loaded(name, document)
        news = [failure for failure in self.bench.failures(scenario) if failure.key not in self._known]
        # What fails once may fail by chance, on a busy machine say.
        target = next((failure for failure in news if self.bench.shows(scenario, failure)), None)
        if target is None:
            for failure in news[:1]:
                self._not_again(name, failure, document)
            return

        def fails(smaller: Document) -> bool:
            self._report_progress(f"making a scenario smaller for {target.what}")
            try:
                return self.bench.shows(self._loaded(name, smaller), target)
            except ScenarioError:
                return False

        self._add_finding(name, target, *smallest(document, fails))

    def _loaded(self, name: str, document: Document) -> Scenario:
        self._tried = document
        return from_data(document, name)

    def _report_progress(self, what: str) -> None:
        self._progress(self.examples, self._options.examples, what)

    # -- what is made of a finding ------------------------------------------------------------------------------

    def _add_finding(self, name: str, target: Failure, document: Document, attempts: int) -> None:
        title, remedy = self._in_words(target)
        document = {**document, "title": f"{title} (found at random)"}
        scenario = self._loaded(name, document)
        shown = self.bench.failures(scenario)
        self._known |= {target.key, *(failure.key for failure in shown)}
        first = next((failure for failure in shown if failure.key == target.key), None)
        if first is None:
            self._not_again(name, target, document)
            return
        failures = (first, *(failure for failure in shown if failure is not first))
        command = self._command(first, name)
        comments = [f"{failure.what} [{failure.path}] {failure.status}: {failure.message}" for failure in failures]
        file = self._write(name, document, [*comments, command])
        if _content(load(file)) != _content(scenario):
            raise HarnessError("its file does not contain what was tried")
        finding = FoundScenario(
            file=str(file),
            failures=failures,
            title=title,
            remedy=remedy,
            example=self.examples,
            attempts=attempts,
            scenario=to_yaml(document),
            command=command,
            ours=self._is_ours(scenario, first),
        )
        self.findings.append(finding)

    def _not_again(self, name: str, failure: Failure, document: Document) -> None:
        """Keep what was seen and could not be seen again; nobody is accused of it."""
        message = f"{failure.what} [{failure.path}] failed once and not again: {failure.message}"
        self.unsteady.append(Unsteady(file=str(self._write(name, document, [message])), failure=failure))

    def _in_words(self, failure: Failure) -> tuple[str, str]:
        if failure.kind == "difference":
            return kind_of_difference(failure.what).title, _MEANT
        requirement = self._requirements[failure.what]
        return requirement.title, requirement.remedy

    def _command(self, failure: Failure, name: str) -> str:
        """What shows it again."""
        words = [self._options.subject, "--scenario", str(self._file(name))]
        if self._options.config.settings.seed:
            words += ["--seed", "0"]
        if failure.kind == "difference":
            return shlex.join(["turnproof", "compare", *words])
        return shlex.join(["turnproof", "certify", *words, "--only", failure.what])

    def _write(self, name: str, document: Document, comments: Iterable[str]) -> Path:
        file = self._file(name)
        write_whole(file, to_yaml(document, comments))
        return file

    def _file(self, name: str) -> Path:
        return self._options.out / f"{name}.yaml"

    def _is_ours(self, scenario: Scenario, failure: Failure) -> bool:
        """Whether the control fails like this too; where it does not claim what the scenario needs, it cannot tell."""
        control = self._control
        if control is None or failure.kind == "difference":
            return False
        lacking = lacking_for(scenario, control.subject.claims(), control.subject.operations)
        return not lacking and control.shows(scenario, failure)
