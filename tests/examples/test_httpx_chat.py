"""`examples/httpx_chat`: its own unit tests pass in process, and its adapter is certified over real HTTP."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "httpx_chat"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example, with no settings above it."""
    folder = tmp_path / "httpx_chat"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "reports"))
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250, check=False)


def test_its_unit_tests_pass_without_a_socket(project: Path) -> None:
    done = run(project, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".")
    assert done.returncode == 0, done.stdout
    assert "12 passed" in done.stdout


def test_it_is_certified_over_real_http(project: Path) -> None:
    done = run(project, "turnproof", "certify", "httpx_chat_binding:BINDING", "--depth", "quick", "--out", "reports")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✓ httpx-chat is certified. Emulated" in done.stdout
    page = (EXAMPLE.parents[1] / "docs" / "first-certificate.md").read_text("utf-8")
    rows = re.findall(r"^\w+ +\d+/\d+.* certified$", page, re.MULTILINE)
    assert len(rows) == 5
    assert [row for row in rows if row not in done.stdout] == []
    certification = json.loads((project / "reports" / "certification.json").read_text("utf-8"))
    assert certification["adapters"]["httpx-chat"]["certified"] is True
    assert certification["backend"] == "emulate"
