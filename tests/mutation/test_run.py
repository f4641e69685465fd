"""What `judging` expects of a run of mutants, each in a fork."""

from __future__ import annotations

from alone import assert_passes_alone


def test_mutants_are_judged() -> None:
    assert_passes_alone("mutation/judging.py", passed=6)
