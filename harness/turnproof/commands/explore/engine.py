"""`turnproof explore`: opens the runner, tries scenario after scenario, and says what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.util import find_spec
from typing import Final

from ...dialects import api_of
from ...errors import UsageError
from ...judge.declarations import excused_for, with_settings
from ...judge.requirements import Level, Requirement, load_suite
from ...run.bindings import resolve_subject
from ...run.driver import Runner
from ...run.driver.limits import limits_of
from ...scenarios.documents import Document
from ...subject import Subject
from ...wire.controls import CONTROLS
from ..certify.plan import select
from .exploration import ExploreOptions, Exploring, Progress
from .report import Exploration
from .trial import ScenarioTrial

TIME_LIMIT: Final = 10.0
"""Seconds without a sign of life after which a run counts as hung. No scenario that is drawn keeps silent for long."""


def explore(options: ExploreOptions, progress: Progress = lambda done, total, what: None) -> Exploration:
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
    limits = limits_of(options.config.settings.workers)
    with Runner(jobs=options.jobs or 2, in_process=options.in_process, time_limit=TIME_LIMIT, limits=limits) as runner:
        bench = _bench(options, runner, subject, judged.values())
        exploring = Exploring(options, bench, _control(runner, subject, judged.values()), judged, progress)
        interrupted = False
        try:
            exploring.run(_documents(subject, options.seed))
        except KeyboardInterrupt:
            interrupted = True
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


def _documents(subject: Subject, seed: int) -> Iterator[Document]:
    from ...scenarios.strategies import Means, documents
    from .random_scenarios import draw_documents

    return draw_documents(documents(Means(subject.claims(), subject.operations)), seed)


def _bench(
    options: ExploreOptions, runner: Runner, subject: Subject, requirements: Iterable[Requirement]
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


def _control(runner: Runner, subject: Subject, requirements: Iterable[Requirement]) -> ScenarioTrial | None:
    """The adapter that is right on sight; for a session, our own session above it. None where that is the subject."""
    name = CONTROLS[api_of(subject.dialect)]
    if subject.kind == "session":
        name = f"reference@{name}"
    control = resolve_subject(name)
    return None if control.name == subject.name else ScenarioTrial(runner, name, control, requirements)
