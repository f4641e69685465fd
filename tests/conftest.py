"""What all tests share: how random examples are drawn, and that no test hangs on who has started them."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import properties
import pytest

if TYPE_CHECKING:
    from turnproof.wire.emulator import EmulatorServer

properties.register()

# Whoever is started in the background of a shell has Ctrl-C ignored, and so would every command that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

SDKS = ("openai", "anthropic", "google_genai", "google.genai", "httpx2")
"""What the reference adapters have their workers import before anything else, by `Subject.modules`."""

OF_THE_SERVER = ("FORCE_COLOR", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Variables with which a CI server says how commands are to write into its log."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave all that was imported and collected out of garbage collections: it stays until the end, and is so much that
    every collection takes long."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def on_no_server() -> Iterator[None]:
    """What a command writes is what it writes by itself."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OF_THE_SERVER:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[EmulatorServer]:
    """The emulator, for the tests of one module."""
    from turnproof.wire.emulator import EmulatorServer

    with EmulatorServer() as running:
        yield running


@pytest.fixture(scope="session")
def forked_workers() -> None:
    """Workers are forked from one process that has imported the SDKs, as those of a command are.

    A worker that is spawned takes a second of CPU to import one. `tests/run/driver/test_prefork.py` has both kinds.
    """
    from turnproof.run.driver import prefork

    prefork.prepare(SDKS)
