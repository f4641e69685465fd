"""What the recordings of the module's `API` are, and how they are judged."""

from __future__ import annotations

import pytest
from shared_material import recordings_dir

from .judge import Judged, judge
from .material import Exchange, Recording


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest) -> list[Recording]:
    return list(request.module.API.recordings(recordings_dir()))


@pytest.fixture(scope="module")
def exchanges(recorded: list[Recording]) -> list[Exchange]:
    return [exchange for recording in recorded for exchange in recording.exchanges]


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest, recorded: list[Recording]) -> list[Judged]:
    return judge(recorded, request.module.API)
