"""Makes pytest-recording use our matcher and loader, as its users would in their own conftest.py."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.wire.cassettes.vcr import register


@pytest.hookimpl(optionalhook=True)
def pytest_recording_configure(config: pytest.Config, vcr: Any) -> None:
    register(vcr)
