"""Whether a run is whole and agrees with itself: its lines with one another, with its evidence, and with its suite.

Verdicts that follow from the evidence prove little if a run that spoke against them was taken out, or the requirement.
So everything that a certification with these options and claims has to hold is worked out again, and looked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ... import __version__
from ..._base.depth import Depth
from ...errors import UsageError
from ...judge.requirements import Requirement, Suite
from ...judge.run_log import AdapterLine, RequirementLine, ResultLine, Run
from ...judge.verdict import Status
from ...judge.view import View
from ...provider import PATHS, Capabilities, Path
from ...run.evidence import EvidenceStore
from ...scenarios import Scenario
from ...session.binding import REFERENCE
from ...subject import SubjectKind
from .campaign import exit_code
from .control import control_problem
from .plan import Plan, in_part, plan
from .run_head import real_origins
from .scenarios import chosen_scenarios, is_file
from .second_runs import second_runs
from .sweep import Sweep, base_patterns

_FEW = 5


@dataclass(frozen=True, slots=True)
class RecordedSubject:
    """A subject as a run tells of it: what can be planned for it, without its code."""

    kind: SubjectKind
    dialect: str
    paths: tuple[Path, ...]
    operations: frozenset[str]
    _claims: Capabilities

    @classmethod
    def from_line(cls, adapter: AdapterLine) -> RecordedSubject:
        """From its line. Raises UsageError for claims that nobody can make."""
        # Of an adapter the operations are those of the reference session, on the paths that there are.
        known = REFERENCE.operations if len(adapter.paths) > 1 else REFERENCE.operations - {"other_path"}
        operations = adapter.operations if adapter.kind != "adapter" else known
        # JSON has no sets: a list of traits would claim none of them.
        wire = frozenset(adapter.capabilities.get("wire", ()))
        try:
            claims = Capabilities(**{**adapter.capabilities, "wire": wire})
        except TypeError as error:
            raise UsageError(f"adapter {adapter.name!r}: its capabilities cannot be read: {error}") from error
        paths = tuple(path for path in PATHS if path in adapter.paths)
        return cls(adapter.kind, adapter.dialect, paths, frozenset(operations), claims)

    def claims(self) -> Capabilities:
        """What it claimed."""
        return self._claims


def lines_agree(run: Run) -> Iterator[str]:
    """What is wrong with the lines by themselves: changed since, told twice, about nobody, or counted wrongly."""
    footer = run.footer  # without one the run was cut, and there is nothing to hold its lines against
    if footer is not None and footer.digest != run.digest:
        yield "the lines of the run were changed: they no longer have the digest of its footer"
    elif footer is not None and footer.lines != run.lines:
        yield "lines of the run were changed, added, taken away or reordered since its footer was written"
    for what, keys in (
        ("verdicts on", [_name(line) for line in run.results]),
        ("runs of", [f"{line.adapter} {line.key}" for line in run.transcripts]),
    ):
        yield from (f"there are {count} {what} {key}" for key, count in Counter(keys).items() if count > 1)
    named = {line.adapter for line in run.results} | {line.adapter for line in run.transcripts}
    for adapter in sorted(named - run.adapters.keys()):
        yield f"there are verdicts or runs of {adapter!r}, and no line that names it"
    if footer is not None and run.results:
        counts = Counter(str(line.verdict.status) for line in run.results)
        if wrong := [str(status) for status in Status if footer.counts.get(str(status), 0) != counts[str(status)]]:
            yield f"its footer counts {wrong[0]} wrongly: {footer.counts.get(wrong[0], 0)}, not {counts[wrong[0]]}"
        must = {line.id for line in run.requirements.values() if line.level == "MUST"}
        code = 2 if control_problem(run.header.controls) else exit_code(run.results, must, footer.problems)
        if footer.exit_code != code:
            yield f"its footer has exit code {footer.exit_code}, and its verdicts come to {code}"


def claims_unreadable(run: Run) -> Iterator[str]:
    """Adapters whose claims nobody can make; without them nothing can be judged again."""
    for adapter in run.adapters.values():
        try:
            RecordedSubject.from_line(adapter)
        except UsageError as error:
            yield str(error)


def evidence_agrees(run: Run, store: EvidenceStore, own: Sequence[Scenario]) -> Iterator[str]:
    """Transcripts that are not the ones their lines speak of. Their digests have to be right already. `own` are the
    scenarios in files of the user's: those with recorded answers have a model of their own."""
    by_name = {scenario.name: scenario for scenario in own}
    for line in run.transcripts:
        if line.adapter not in run.adapters:
            continue
        adapter, found = run.adapters[line.adapter], store.get(line.digest)
        scenario = by_name.get(line.key.scenario)
        model = scenario.model_for(adapter.dialect, adapter.model) if scenario is not None else adapter.model
        for what, recorded, true in (
            ("adapter", line.adapter, found.adapter),
            ("run", str(line.key), str(found.key)),
            ("end", line.how, found.end.how),
            ("seed", run.header.seed, found.seed),
            ("backend", adapter.backend, found.backend),
            ("model", model, found.model),
            ("dialect", adapter.dialect, found.dialect),
        ):
            if recorded != true:
                yield f"{line.adapter} {line.key}: the run has {what} {recorded!r}, its evidence {true!r}"


def catalogue_agrees(run: Run, suite: Suite) -> Iterator[str]:
    """Requirements that do not stand in the run as they stand in its profiles."""
    # Which services do what is no matter of the profiles: another version may know better.
    same_version = run.header.turnproof == __version__
    if same_version and run.header.allowed_only not in (None, suite.allowed_only):
        yield "the run has another list of scenarios that no service shows today than its suite"
    true = {
        requirement.id: RequirementLine.of(requirement, suite.registry.templates) for requirement in suite.requirements
    }
    for id in dict.fromkeys((*true, *run.requirements)):
        recorded, meant = run.requirements.get(id), true.get(id)
        if recorded is None:
            yield f"{id}: profiles {run.header.profiles} have this requirement, and the run does not"
        elif meant is None:
            yield f"{id}: profiles {run.header.profiles} do not have this requirement"
        else:
            # Words for findings may be improved at any time, and those of a requirement from version to version. In
            # runs of the earlier format some requirements lack a capability without which no scenario shows them.
            aside = {"findings"}
            if run.earlier or run.header.turnproof != __version__:
                aside |= {"title", "reason", "effect", "provider", "code"}
            if run.earlier:
                aside |= {"capability"}
            if not recorded.counts:  # in logs from before it was counted
                aside |= {"counts"}
            if not recorded.effect:  # as above
                aside |= {"effect"}
            names = [name for name in meant.__struct_fields__ if name not in aside]
            fields = [name for name in names if getattr(recorded, name) != getattr(meant, name)]
            if fields:
                yield f"{id}: the run has another {', '.join(fields)} than profiles {run.header.profiles}"


def nothing_is_missing(
    run: Run, suite: Suite, suite_scenarios: Sequence[Scenario], views: Mapping[str, Sequence[View]]
) -> Iterator[str]:
    """Runs and verdicts that a certification with these options and claims has, and this one has not; or the reverse.

    `views` are those of each adapter's runs. Which requirements, and which one path, were asked for is taken from the
    verdicts: what is left out there counts as unmeasured, and certifies nothing.
    """
    patterns = _patterns(run)
    scenarios = chosen_scenarios(suite_scenarios, base_patterns(patterns))
    for name, adapter in run.adapters.items():
        lines = [line for line in run.results if line.adapter == name]
        judged = {line.requirement for line in lines}
        requirements = [one for one in suite.requirements if one.id in judged]
        the_plan = _plan(adapter, suite, scenarios, requirements, lines, run.header.depth, patterns)
        planned_pairs = {(item.requirement.id, item.path) for item in the_plan.items}
        there = {(line.requirement, line.path) for line in lines}
        yield from _mismatches(
            name, "verdict", (f"{id} [{path}]" for id, path in sorted(planned_pairs - there)), missing=True
        )
        adapter_views = views.get(name, ())
        planned = {str(spec.key) for spec in (*the_plan.runs, *second_runs(the_plan, name, adapter_views))}
        if run.header.depth == "full" and adapter.backend == "emulate":
            sweep, subject = Sweep([name], patterns), RecordedSubject.from_line(adapter)
            planned |= {str(spec.key) for spec in sweep.runs(the_plan, name, subject, adapter_views)}
        origins = real_origins(adapter.dialect, (spec.scenario for spec in the_plan.runs))
        if origins != (adapter.real, adapter.real_only):
            yield f"{name}: the run names other recorded answers than its scenarios have"
        run_keys = {str(line.key) for line in run.transcripts if line.adapter == name}
        yield from _mismatches(name, "run", sorted(planned - run_keys), missing=True)
        yield from _mismatches(name, "run", sorted(run_keys - planned), missing=False)


def _plan(
    adapter: AdapterLine,
    suite: Suite,
    scenarios: Sequence[Scenario],
    requirements: Sequence[Requirement],
    results: Sequence[ResultLine],
    depth: Depth,
    patterns: Sequence[str],
) -> Plan:
    paths = {line.path for line in results}
    one = next(iter(paths)) if len(paths) == 1 and "parity" not in paths else None
    subject = RecordedSubject.from_line(adapter)
    showing = not patterns and in_part(requirements, suite, subject.kind)
    named = bool(patterns)
    return plan(
        {adapter.name: subject}, suite, scenarios, requirements, path=one, depth=depth, showing=showing, named=named
    )


def _patterns(run: Run) -> tuple[str, ...]:
    """The scenarios that the run was limited to; somebody's own files where they were."""
    words = run.header.reproduce
    patterns = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--scenario"]
    return (*(pattern for pattern in patterns if not is_file(pattern)), *run.header.files)


def _mismatches(adapter: str, what: str, keys: Sequence[str] | Iterator[str], *, missing: bool) -> Iterator[str]:
    every = list(keys)
    problem = "has to be there and is not" if missing else "is there, and no part of such a run"
    yield from (f"{adapter} {key}: this {what} {problem}" for key in every[:_FEW])
    if len(every) > _FEW:
        yield f"{adapter}: the same is true of {len(every) - _FEW} more {what}s"


def _name(line: ResultLine) -> str:
    return f"{line.adapter} {line.requirement} [{line.path}]"
