"""What the tests of this folder run adapters with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnproof.run.driver import Runner

HERE = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def runner(forked_workers: None) -> Iterator[Runner]:
    """A runner that finds the adapters of this folder by their module."""
    sys.path.insert(0, HERE)
    with Runner(jobs=1) as opened:
        yield opened
    sys.path.remove(HERE)
