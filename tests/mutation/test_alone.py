"""What `forking` and `judging` expect of forks, each in a process of its own."""

from __future__ import annotations

import pytest
from alone import assert_passes_alone

# Imports and forks much: a busy machine takes several times as long as an idle one.
pytestmark = [pytest.mark.timeout(600), pytest.mark.long]


def test_forks_give_results_and_none_that_is_lost_holds_up_the_others() -> None:
    assert_passes_alone("mutation/forking.py", passed=6)


def test_mutants_are_judged() -> None:
    assert_passes_alone("mutation/judging.py", passed=6)
