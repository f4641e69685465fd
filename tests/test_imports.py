"""What comes with `import turnproof...`: no provider's SDK, and no server where none is started."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("aiohttp", "anthropic", "azure", "google.genai", "httpx", "httpx2", "openai")


@pytest.mark.parametrize("module", ["turnproof.provider", "turnproof.session", "turnproof.driver", "turnproof.cli"])
def test_neither_an_sdk_nor_the_server_is_imported_before_it_is_needed(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_server_is_there_when_it_is_asked_for() -> None:
    from turnproof import emulator
    from turnproof.emulator.front import EmulatorServer

    assert emulator.EmulatorServer is EmulatorServer
    with pytest.raises(AttributeError, match="no attribute 'Server'"):
        _ = emulator.Server
