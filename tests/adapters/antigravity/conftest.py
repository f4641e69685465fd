"""The emulated gateway, for tests that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from turnproof.wire.emulator import EmulatorServer

from .emulated_gateway import Gateway, emulated


@pytest.fixture(scope="session")
def _server() -> Iterator[EmulatorServer]:
    with EmulatorServer() as running:
        yield running


@pytest.fixture
def gateway(_server: EmulatorServer) -> Iterator[Gateway]:
    with emulated(_server) as world:
        yield world
