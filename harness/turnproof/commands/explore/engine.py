"""`turnproof explore`: opens the runner, tries scenario after scenario, and says what came of it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ..._base.counts import counted
from ..._base.folder_lock import locked
from ...dialects import api_of
from ...errors import UsageError
from ...judge.declarations import excused_for, with_settings
from ...judge.requirements import Level, Requirement, load_suite
from ...report.progress import Silence, Telling, place_reports
from ...run.bindings import resolve_subject
from ...run.driver.limits import limits_of
from ...run.driver.run_place import RunPlace
from ...run.places import run_place
from ...scenarios.documents import Document
from ...subject import Subject
from ...wire.controls import CONTROLS
from ..certify.plan import select
from ..certify.resumable_place import ResumablePlace
from ..certify.run_store import MadeWith, RunStore
from .exploration import ExploreOptions, Exploring
from .report import Exploration
from .trial import ScenarioTrial

TIME_LIMIT: Final = 10.0
"""Seconds without a sign of life after which a run counts as hung. No scenario that is drawn keeps silent for long."""


RUNS_FOLDER: Final = "explored.kept"
"""The folder of runs that `--resume` goes on with; it goes when the exploration is over."""

_AHEAD: Final = 24
"""On a cluster, scenarios whose runs are made together."""


def explore(options: ExploreOptions, progress: Telling | None = None) -> Exploration:
    """Search, and write a scenario file for each finding into the folder `explored` of `options.out`.

    Raises UsageError for a subject, a requirement or settings that do not exist, and where hypothesis is not installed;
    HarnessError where turnproof itself fails on a scenario, which is then written down too. An interrupted search
    returns what it had found.
    """
    started = time.monotonic()
    if find_spec("hypothesis") is None:
        raise UsageError("random scenarios need hypothesis: pip install 'turnproof[explore]'")
    declared = options.config.settings.declared_difference
    subject = with_settings(options.subject, resolve_subject(options.subject), declared)
    found = select(load_suite(), options.only, options.skip, ())
    judged = {one.id: one for one in found if options.only or one.level is Level.MUST}
    tracker = progress or Silence()
    interrupted = False
    with ExitStack() as stack:
        runner = _place(options, subject, tracker, stack)
        bench = _bench(options, runner, subject, judged.values())
        control = _control(runner, subject, judged.values())
        ahead = 1 if options.cluster is None else _AHEAD
        exploring = Exploring(options, bench, control, judged, tracker, ahead)
        try:
            exploring.run(_documents(subject, options.seed))
        except KeyboardInterrupt:
            interrupted = True
    if options.resume and not interrupted:
        shutil.rmtree(options.out / RUNS_FOLDER, ignore_errors=True)
    return Exploration(
        subject=options.subject,
        seed=options.seed,
        examples=exploring.examples,
        runs=bench.runs,
        duration_s=round(time.monotonic() - started, 3),
        findings=tuple(exploring.findings),
        unsteady=tuple(exploring.unsteady),
        interrupted=interrupted,
    )


def _place(options: ExploreOptions, subject: Subject, tracker: Telling, stack: ExitStack) -> RunPlace:
    """Where the runs are made. They are kept to be gone on with, and on a cluster to be made ahead."""
    place = run_place(
        options.cluster,
        {options.subject: subject},
        jobs=options.jobs,
        in_process=options.in_process,
        time_limit=TIME_LIMIT,
        limits=limits_of(options.config.settings.workers),
        reports=place_reports(tracker),
    )
    if options.resume:
        stack.enter_context(locked(options.out))
        folder = options.out / RUNS_FOLDER
    elif options.cluster is not None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turnproof-explore-")))
    else:
        return stack.enter_context(place)
    resumable = ResumablePlace(place, RunStore(folder, MadeWith.here(load_suite(), [subject], 0)))
    stack.enter_context(resumable)
    stack.callback(_report_taken_over, resumable)
    return resumable


def _report_taken_over(place: ResumablePlace) -> None:
    if place.taken_over:
        print(f"resumed: {counted(place.taken_over, 'run')} taken over", file=sys.stderr)


def _documents(subject: Subject, seed: int) -> Iterator[Document]:
    from ...scenarios.strategies import Means, documents
    from .random_scenarios import draw_documents

    return draw_documents(documents(Means(subject.claims(), subject.operations)), seed)


def _bench(
    options: ExploreOptions, runner: RunPlace, subject: Subject, requirements: Iterable[Requirement]
) -> ScenarioTrial:
    settings = options.config.settings
    today = date.today()
    return ScenarioTrial(
        runner,
        options.subject,
        subject,
        requirements,
        excused=excused_for(subject, settings.declared_difference),
        accepted=[issue for issue in settings.known_issue if issue.adapter == subject.name and issue.expires >= today],
        path=options.path,
    )


def _control(runner: RunPlace, subject: Subject, requirements: Iterable[Requirement]) -> ScenarioTrial | None:
    """The adapter that is right on sight; for a session, our own session above it. None where that is the subject."""
    name = CONTROLS[api_of(subject.dialect)]
    if subject.kind == "session":
        name = f"reference@{name}"
    control = resolve_subject(name)
    return None if control.name == subject.name else ScenarioTrial(runner, name, control, requirements)
