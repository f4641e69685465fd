"""The requirement items of a user's own pytest run (`pytest --turnproof-adapter pkg:BINDING`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ..bindings import resolve_subject
from ..driver import Lab
from ..evidence import EvidenceStore
from ..pytest_plugin import RequirementItems
from ..requirements import load_suite
from .backends import Backends, choose_backend
from .campaign import Campaign
from .control import broken, certify_controls
from .plan import plan, select
from .scenarios import suite_scenarios


def open_campaign(adapters: Sequence[str], only: Sequence[str], config: pytest.Config) -> RequirementItems:
    """The plugin object that adds the items. The lab and its evidence end with the pytest session."""
    suite = load_suite()
    subjects = {spec: resolve_subject(spec) for spec in adapters}
    requirements = select(suite.requirements, only, (), ())
    scenarios = suite_scenarios(suite)
    the_plan = plan(subjects, suite, scenarios, requirements)
    backends = Backends({spec: choose_backend(spec, subject, None) for spec, subject in subjects.items()})
    lab = Lab(responders=backends)
    folder = TemporaryDirectory(prefix="turnproof-evidence-")
    lab.__enter__()
    config.add_cleanup(lambda: lab.__exit__(None, None, None))
    config.add_cleanup(folder.cleanup)
    store = EvidenceStore(Path(folder.name))
    dialects = [subject.dialect for subject in subjects.values()]
    return RequirementItems(
        Campaign(
            the_plan,
            subjects,
            lab,
            store,
            scenarios,
            control=lambda: broken(certify_controls(lab, suite, dialects, store)),
            shown=suite.shown,
        )
    )
