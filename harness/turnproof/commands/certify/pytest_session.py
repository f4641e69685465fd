"""The requirement items of a user's own pytest run (`pytest --turnproof-adapter pkg:BINDING`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ...judge.requirements import load_suite
from ...run.backends import Backends, choose_backend
from ...run.bindings import resolve_subject
from ...run.driver import Runner, prefork
from ...run.evidence import EvidenceStore
from .campaign import Campaign
from .control import certify_controls, control_problem
from .plan import plan, select
from .pytest_items import RequirementItems
from .scenarios import suite_scenarios


def open_campaign(adapters: Sequence[str], only: Sequence[str], config: pytest.Config) -> RequirementItems:
    """The plugin object that adds the items. The runner and its evidence end with the pytest session."""
    suite = load_suite()
    subjects = {spec: resolve_subject(spec) for spec in adapters}
    prefork.prepare(dict.fromkeys(module for subject in subjects.values() for module in subject.modules))
    requirements = select(suite, only, (), ())
    scenarios = suite_scenarios(suite)
    the_plan = plan(subjects, suite, scenarios, requirements)
    backends = Backends({spec: choose_backend(spec, subject, None) for spec, subject in subjects.items()})
    runner = Runner(responders=backends)
    folder = TemporaryDirectory(prefix="turnproof-evidence-")
    runner.__enter__()
    config.add_cleanup(lambda: runner.__exit__(None, None, None))
    config.add_cleanup(folder.cleanup)
    store = EvidenceStore(Path(folder.name))
    dialects = [subject.dialect for subject in subjects.values()]
    return RequirementItems(
        Campaign(
            the_plan,
            subjects,
            runner,
            store,
            scenarios,
            control=lambda: control_problem(certify_controls(runner, suite, dialects, store)),
            shown=suite.shown,
        )
    )
