"""What tests of adapters may ask for."""

from __future__ import annotations

import pytest

from turnproof_adapters import _http
from turnproof_adapters._interrupt import Cut

from .scripted_server import LIMIT


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adapters that give a service the time of a busy machine, where they are brief: to connect, and to end a body."""
    monkeypatch.setattr(_http, "CONNECT_TIMEOUT", LIMIT)
    monkeypatch.setattr(Cut, "PATIENCE", LIMIT)
