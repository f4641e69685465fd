"""Every test leaves no loop behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from turnproof._base import coroutines


@pytest.fixture(autouse=True)
def _no_loop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # One of its own: a run of another file that hung on purpose may hold this process's loop for good.
    monkeypatch.setattr(coroutines, "_shared", coroutines._SharedLoop())
    before = set(threading.enumerate())
    yield
    assert "turnproof-loop" not in [thread.name for thread in set(threading.enumerate()) - before]
