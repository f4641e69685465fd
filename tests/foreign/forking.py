"""A process that forks while a provider's loop runs in it; test_loops.py runs this in a process of its own."""

from __future__ import annotations

import os

import pytest

from turnproof import foreign

from .providers import ASKS, HI, FullCoroutine


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_a_loop_of_its_own() -> None:
    provider = foreign.normalise(FullCoroutine())
    provider.complete(HI)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if provider.complete(HI) == ASKS else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    provider.close()  # type: ignore[attr-defined]
    assert os.waitstatus_to_exitcode(status) == 0
