"""What `judging` expects of a run of mutants, each in a fork."""

from __future__ import annotations

import pytest
from alone import assert_passes_alone

# Imports and forks much: a busy machine takes several times as long as an idle one.
pytestmark = pytest.mark.timeout(600)


def test_mutants_are_judged() -> None:
    assert_passes_alone("mutation/judging.py", passed=6)
