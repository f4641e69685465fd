"""Adapters behind a mock that others wrote, as a live service: it says what scenarios ask for, and fails on command.

It is no judge of what an API refuses; it shows framing, tools and errors as somebody else understood them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from .aimock import serving, write_fixtures
from .gemini_front import in_front_of

pytestmark = pytest.mark.long

PACKAGE = os.environ.get("TURNPROOF_AIMOCK")
if PACKAGE is None:
    pytest.skip("aimock is not installed: TURNPROOF_AIMOCK names its folder", allow_module_level=True)

GEMINI = {"google_genai": 80, "google_interactions": 80}
"""Those that ask the mock through a front: see there."""
ADAPTERS = {"openai": 90, "openai_responses": 100, "anthropic": 95, "ollama": 80, **GEMINI}
"""The adapters of the APIs that the mock has, and how many requirements its own answers decide at least."""


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    assert write_fixtures(file) > 200
    return file


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_no_adapter_is_accused_behind_a_mock_that_others_wrote(adapter: str, fixtures: Path, tmp_path: Path) -> None:
    with (
        serving(Path(str(PACKAGE)), fixtures) as mock,
        in_front_of(mock) if adapter in GEMINI else nullcontext(mock) as url,
    ):
        report = certified(adapter, url, tmp_path)
    assert violated(report) == {}
    assert report["decided_on"]["answers"] >= ADAPTERS[adapter]


@pytest.mark.timeout(1200)
def test_a_mock_that_fails_on_command_accuses_nobody(fixtures: Path, tmp_path: Path) -> None:
    faults = ["--chaos-ratelimit", "0.05", "--chaos-disconnect", "0.05", "--chaos-drop", "0.05"]
    with serving(Path(str(PACKAGE)), fixtures, *faults) as url:
        report = certified("openai", url, tmp_path)
    assert violated(report) == {}
    assert report["decided_on"]["answers"] >= 40


def certified(adapter: str, url: str, out: Path) -> dict[str, Any]:
    """What a quick certification behind the mock found."""
    variables = {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "OLLAMA_API_KEY": "none",
        "OLLAMA_HOST": url,
    }
    command = [sys.executable, "-m", "turnproof", "certify", adapter, "--backend", "live", "--out", str(out)]
    ended = subprocess.run(command, env={**os.environ, **variables}, check=False, capture_output=True, text=True)
    file = out / "certification.json"
    assert file.exists(), ended.stderr
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))["adapters"][adapter]
    return found


def violated(report: dict[str, Any]) -> dict[str, str]:
    """What the adapter is accused of."""
    requirements = report["requirements"]
    return {name: found["message"] for name, found in requirements.items() if found["status"] == "violated"}
