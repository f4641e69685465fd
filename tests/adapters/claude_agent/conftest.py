from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .kit import Place, place


@pytest.fixture(autouse=True)
def words_of_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that has closed its output and takes longer to end nobody could say how it has ended."""
    monkeypatch.setattr("turnproof_adapters._child_process.GRACE", 60.0)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path) as found:
        yield found
