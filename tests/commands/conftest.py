"""How the commands that are tested here start their workers."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def use_forked_workers(forked_workers: None) -> None:
    """The tests of this folder make runs in workers, as commands do."""
