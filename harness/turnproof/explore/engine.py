"""`turnproof explore`: hunt after hunt, each for something new, until the examples are used up."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Final

from ..bindings import resolve_subject
from ..certify.plan import select
from ..declarations import with_settings
from ..driver import Lab
from ..errors import UsageError
from ..requirements import load_suite
from .exploring import Exploring, Progress
from .options import ExploreOptions
from .report import Exploration

TIME_LIMIT: Final = 5.0
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
    subject = with_settings(
        options.subject, resolve_subject(options.subject), options.config.settings.declared_difference
    )
    requirements = select(load_suite().requirements, options.only, options.skip, ())
    with Lab(jobs=options.jobs or 2, in_process=options.in_process, time_limit=TIME_LIMIT) as lab:
        exploring = Exploring(options, lab, subject, requirements, progress)
        try:
            exploring.run()
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
    return Exploration(
        subject=options.subject,
        seed=options.seed,
        examples=exploring.examples,
        runs=exploring.bench.runs,
        duration_s=round(time.monotonic() - started, 3),
        findings=tuple(exploring.findings),
        unsteady=tuple(exploring.unsteady),
        interrupted=interrupted,
    )
