"""`turnproof verify`: the verdicts of a run, given again from its evidence. No adapter and no server takes part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import TurnproofError
from ..evidence import EvidenceStore
from ..provider import Capabilities, Difference
from ..requirements import Suite, load_suite
from ..runlog import AdapterLine, ResultLine, Run, run_digest
from ..scenarios import Scenario, load
from ..subject import OPERATIONS
from ..verdict import Status, Verdict, inconclusive
from ..view import View
from .control import broken, judged_again
from .deciding import Claimed, decide
from .recorded import recorded_view
from .scenarios import suite_scenarios


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked, and what is not as the run says, a line each."""

    complete: bool
    transcripts: int
    verdicts: int
    problems: tuple[str, ...]


def verify_run(run: Run, store: EvidenceStore) -> Verification:
    """Check every digest, then run the same checks over the same evidence and compare what they say."""
    problems: list[str] = []
    if not run.complete:
        problems.append("the run was cut: it has no footer")
    elif run.footer is not None and run.footer.digest != run_digest(run.transcripts, run.results):
        problems.append("the lines of the run were changed: they no longer have the digest of its footer")
    sound = {line.digest for line in run.transcripts}
    for digest in sorted(sound):
        if wrong := store.verify(digest):
            problems.append(wrong)
            sound.discard(digest)
    if run.results and len(sound) == len({line.digest for line in run.transcripts}):
        problems += _judged_again(run, store)
    return Verification(run.complete, len(run.transcripts), len(run.results), tuple(problems))


def _judged_again(run: Run, store: EvidenceStore) -> list[str]:
    suite = load_suite()
    if suite.profiles.name != run.header.profiles:
        suite = load_suite(suite.package, run.header.profiles)
    scenarios = [*suite_scenarios(suite), *map(load, run.header.files)]
    views = _views(run, store, suite, scenarios)
    problems = [problem for control in run.header.controls for problem in judged_again(control, store, suite)]
    if nothing_judged := broken(run.header.controls):
        wrong = inconclusive(nothing_judged)
        return problems + [
            f"{_name(line)}: was {line.verdict.status}, but the control failed and nothing could be judged"
            for line in run.results
            if line.verdict != wrong
        ]
    for line in run.results:
        adapter = run.adapters[line.adapter]
        try:
            again = _verdict(suite, scenarios, adapter, line, views[line.adapter])
        except TurnproofError as error:
            problems.append(f"{_name(line)}: cannot be judged again: {error}")
            continue
        if difference := _difference(line.verdict, again):
            problems.append(f"{_name(line)}: {difference}")
    return problems


def _views(run: Run, store: EvidenceStore, suite: Suite, known: Sequence[Scenario]) -> dict[str, list[View]]:
    scenarios = {scenario.name: scenario for scenario in known}
    views: dict[str, list[View]] = defaultdict(list)
    for line in run.transcripts:
        views[line.adapter].append(recorded_view(run, line, store, scenarios))
    return views


def _verdict(
    suite: Suite, scenarios: Sequence[Scenario], adapter: AdapterLine, line: ResultLine, views: Sequence[View]
) -> Verdict:
    declared = [Difference(name, "declared when the run was made") for name in adapter.declared]
    # Of an adapter the operations are those of the reference session, on the paths that there are.
    known = OPERATIONS if len(adapter.paths) > 1 else [name for name in OPERATIONS if name != "other_path"]
    operations = adapter.operations if adapter.kind == "session" else known
    # JSON has no sets: a list of traits would claim none of them.
    wire = frozenset(adapter.capabilities.get("wire", ()))
    claims = Capabilities(**{**adapter.capabilities, "wire": wire})
    claimed = Claimed(claims, declared, scenarios, adapter.kind, operations)
    return decide(suite.catalogue[line.requirement], line.path, views, claimed, suite.registry)


def _difference(before: Verdict, again: Verdict) -> str | None:
    """What has changed. A known issue is a violation that somebody accepted; its message has their words in front."""
    accepted = before.status is Status.KNOWN_ISSUE
    expected = Status.VIOLATED if accepted else before.status
    if again.status is not expected:
        return f"was {before.status}, and the evidence says {again.status}: {again.message}"
    if before.message != again.message and not (accepted and before.message.endswith(again.message)):
        return f"said {before.message!r}, and the evidence says {again.message!r}"
    return None


def _name(line: ResultLine) -> str:
    return f"{line.adapter} {line.requirement} [{line.path}]"
