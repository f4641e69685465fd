"""What `forking` expects of forks."""

from __future__ import annotations

from alone import assert_passes_alone


def test_forks_give_results_and_none_that_is_lost_holds_up_the_others() -> None:
    assert_passes_alone("mutation/forking.py", passed=6)
