"""`turnproof verify`: the verdicts of a run, given again from its evidence. No adapter and no server takes part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ... import __version__
from ..._base.foreign_files import read_regular
from ...errors import TurnproofError, UsageError
from ...judge.requirements import Shown, Suite, load_suite
from ...judge.run_log import AdapterLine, ResultLine, Run
from ...judge.verdict import Status, Verdict, accept_codes, inconclusive
from ...judge.view import View
from ...messages import JSON
from ...provider import Difference
from ...report.certification import Certification, certification
from ...report.run_folders import CERTIFICATION_FILE, read_certification
from ...report.write import MACHINE_REPORTS, machine_reports
from ...run.evidence import EvidenceStore
from ...scenarios import Scenario, load
from .consistency import (
    RecordedSubject,
    catalogue_agrees,
    claims_unreadable,
    evidence_agrees,
    lines_agree,
    nothing_is_missing,
)
from .control import control_problem, judged_again, missing_controls
from .decide import Claimed, decide
from .scenarios import recorded_view, suite_scenarios


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked, and what is not as the run says, a line each."""

    complete: bool
    transcripts: int
    verdicts: int
    problems: tuple[str, ...]


def verify_run(run: Run, store: EvidenceStore, files: Sequence[str] = ()) -> Verification:
    """Check every digest, then run the same checks over the same evidence and compare what they say.

    `files` are the paths of the run's scenarios that do not belong to the suite. The paths that the run itself names
    are not opened: they may lead anywhere.
    """
    run = replace(run, header=msgspec.structs.replace(run.header, files=tuple(files)))
    problems = [*lines_agree(run), *(unreadable := list(claims_unreadable(run)))]
    sound = {line.digest for line in run.transcripts}
    for digest in sorted(sound):
        if wrong := store.verify(digest):
            problems.append(wrong)
            sound.discard(digest)
    if run.results and not unreadable and len(sound) == len({line.digest for line in run.transcripts}):
        own = list(map(load, run.header.files))
        problems += evidence_agrees(run, store, own)
        problems += _judged_again(run, store, own)
    if problems and run.header.turnproof != __version__:
        problems.append(f"the run was made with turnproof {run.header.turnproof}, and this is {__version__}")
    return Verification(run.complete, len(run.transcripts), len(run.results), tuple(problems))


def report_agrees(run: Run, store: EvidenceStore, folder: Path) -> list[str]:
    """Whether the reports beside a run, those that are there, say what the run comes to.

    Those that another version of turnproof wrote may be worded otherwise: of them, only `certification.json` is read.
    """
    file = folder / CERTIFICATION_FILE
    if not run.results:
        return []
    others = [] if run.header.turnproof != __version__ else list(_reports_agree(run, store, folder))
    if not file.exists():
        return others
    try:
        stored_report = read_certification(file)
        report = msgspec.json.encode(certification(run, store))
        if stored_report == msgspec.json.decode(report, type=Certification):
            return others
        if run.earlier and _contains(msgspec.json.decode(report), msgspec.json.decode(read_regular(file))):
            return others
    except UsageError as error:
        return [*others, str(error)]
    return [*others, _not_what_it_comes_to(file, folder)]


def _reports_agree(run: Run, store: EvidenceStore, folder: Path) -> Iterator[str]:
    """What programs and READMEs read of a run: `junit.xml`, `turnproof.sarif`, `summary.md` and the badges."""
    try:
        report = certification(run, store)
        true = machine_reports(run, report)
    except UsageError as error:
        yield str(error)
        return
    there = {path.name for pattern in MACHINE_REPORTS for path in folder.glob(pattern)}
    for name in sorted(there):
        file = folder / name
        if name not in true:
            yield f"{file} speaks for an adapter that is no part of the run"
            continue
        try:
            if read_regular(file) != true[name]:
                yield _not_what_it_comes_to(file, folder)
        except OSError as error:
            yield f"{file}: cannot be read: {error.strerror}"
        except UsageError as error:
            yield str(error)


def _not_what_it_comes_to(file: Path, folder: Path) -> str:
    return f"{file} is not what the run comes to: turnproof report {folder} writes it again"


def _contains(current: JSON, stored: JSON, name: str = "") -> bool:
    """Whether a report says what an earlier turnproof told, but for words and commands. It may say more."""
    if name in ("message", "reproduce"):
        return True
    if isinstance(stored, dict) and isinstance(current, dict):
        return all(key in current and _contains(current[key], value, key) for key, value in stored.items())
    return bool(current == stored)


def _judged_again(run: Run, store: EvidenceStore, own: Sequence[Scenario]) -> list[str]:
    suite = load_suite()
    if suite.profiles.name != run.header.profiles:
        suite = load_suite(suite.package, run.header.profiles)
    scenarios = [*suite_scenarios(suite), *own]
    views = _views(run, store, scenarios)
    problems = list(catalogue_agrees(run, suite))
    if run.complete and not control_problem(run.header.controls):
        problems += nothing_is_missing(run, suite, scenarios, views)
    if run.complete:
        problems += missing_controls(run.header.controls, {one.dialect for one in run.adapters.values()})
    problems += [problem for control in run.header.controls for problem in judged_again(control, store, suite)]
    if nothing_judged := control_problem(run.header.controls):
        wrong = inconclusive(nothing_judged)
        return problems + [
            f"{_name(line)}: was {line.verdict.status}, but the control failed and nothing could be judged"
            for line in run.results
            if line.verdict != wrong
        ]
    index = None if run.earlier else suite.shown  # there was no index when the earlier format was written
    for line in run.results:
        adapter = run.adapters.get(line.adapter)
        if adapter is None:
            continue
        try:
            again = _verdict(suite, scenarios, adapter, line, views[line.adapter], index)
        except TurnproofError as error:
            problems.append(f"{_name(line)}: cannot be judged again: {error}")
            continue
        if difference := _difference(run, line.verdict, again):
            problems.append(f"{_name(line)}: {difference}")
    return problems


def _views(run: Run, store: EvidenceStore, suite_scenarios: Sequence[Scenario]) -> dict[str, list[View]]:
    scenarios = {scenario.name: scenario for scenario in suite_scenarios}
    views: dict[str, list[View]] = defaultdict(list)
    for line in run.transcripts:
        if line.adapter in run.adapters:
            views[line.adapter].append(recorded_view(run, line, store, scenarios))
    return views


def _verdict(
    suite: Suite,
    scenarios: Sequence[Scenario],
    adapter: AdapterLine,
    line: ResultLine,
    views: Sequence[View],
    shown: Shown | None,
) -> Verdict:
    declared = [Difference(name, "declared when the run was made") for name in adapter.declared]
    subject = RecordedSubject.from_line(adapter)
    claimed = Claimed(
        subject.claims(),
        declared,
        scenarios,
        adapter.kind,
        subject.operations,
        adapter.dialect,
        shown,
    )
    return decide(suite.catalogue[line.requirement], line.path, views, claimed, suite.registry)


def _difference(run: Run, before: Verdict, again: Verdict) -> str | None:
    """What has changed but for words. A known issue is a violation that somebody accepted, in whole or by codes.

    Of a run of the earlier format the violations have no findings to be held against those of today; and what nothing
    within the claims could show was undecided there, and is not claimed today.
    """
    if run.earlier and before.empty and again.status is Status.NOT_CLAIMED:
        return None
    expected = Status.VIOLATED if before.status is Status.KNOWN_ISSUE else before.status
    if again.status is not expected:
        return f"was {before.status}, and the evidence shows {again.status}: {run.message(again)}"
    if before.accepted and again.status is Status.VIOLATED:
        again = accept_codes(again, {finding.code for finding in before.accepted})
    ignored = ("findings", "total", "failing", "undecided") if run.earlier else ()
    uncounted = ("asked",) if before.asked is None else ()  # in logs from before it was counted
    left_out = ("status", "message", "detail", *uncounted, *ignored)
    rest = [name for name in before.__struct_fields__ if name not in left_out]
    if other := [name for name in rest if getattr(before, name) != getattr(again, name)]:
        return f"has another {', '.join(other)} than the evidence gives"
    return None


def _name(line: ResultLine) -> str:
    return f"{line.adapter} {line.requirement} [{line.path}]"
