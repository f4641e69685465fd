from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .kit import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path) as found:
        yield found
