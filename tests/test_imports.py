"""What comes with `import turnproof...`: no provider's SDK, and no server where none is started."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

HEAVY = ("aiohttp", "anthropic", "azure", "google.genai", "httpx", "httpx2", "openai", "yaml")


@pytest.mark.parametrize(
    "module", ["turnproof.provider", "turnproof.session", "turnproof.run.driver", "turnproof.commands.cli"]
)
def test_neither_an_sdk_nor_the_server_is_imported_before_it_is_needed(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "package", ["turnproof.wire.cassettes", "turnproof.run.driver", "turnproof.wire.emulator", "turnproof.scenarios"]
)
def test_what_is_imported_late_is_there_when_it_is_asked_for(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name)
    assert set(module.__all__) <= set(vars(module)), "what was asked for once is kept"
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'no_such'"):
        _ = module.no_such
