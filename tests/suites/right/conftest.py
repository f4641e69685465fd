"""How adapters that are right in an unusual way are run."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def use_forked_workers(forked_workers: None) -> None:
    """The tests of this folder make runs in workers, as commands do."""
