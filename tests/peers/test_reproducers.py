"""What pydantic-ai is accused of, shown by the library alone: the file has no turnproof in it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        importlib.util.find_spec("pydantic_ai") is None,
        reason="needs pydantic-ai: pip install 'turnproof[pydantic-ai]'",
    ),
]

PEER = "turnproof_adapters.peers.pydantic_ai:BINDING"
AGENT = "turnproof_adapters.peers.pydantic_ai_agent:SESSION"
SCENARIOS = ("faults/no_end", "tools/illegal_names", "handoff/from_elsewhere", "basics/four_turns")

MENDED = """
import dataclasses, pydantic_ai.tools as tools
made = tools.ToolDefinition.__init__
def mended(self, *, name, **rest):
    made(self, name=name.replace(".", "_").replace(":", "_"), **rest)
tools.ToolDefinition.__init__ = mended
"""
"""A library that sends legal names: a `sitecustomize` that Python imports by itself."""


def turnproof(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "turnproof", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250, check=False)


def run_file(file: Path, *folders: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-P", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def certify(folder: Path, peer: str, scenarios: tuple[str, ...]) -> Path:
    words = [word for name in scenarios for word in ("--scenario", name)]
    done = turnproof(folder, "certify", peer, "--backend", "emulate", *words, "--out", "reports")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certify(tmp_path_factory.mktemp("peer"), PEER, SCENARIOS)


@pytest.fixture(scope="module")
def certified_agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certify(tmp_path_factory.mktemp("agent"), AGENT, ("faults/no_end", "tools/illegal_names"))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("tools/names-are-legal", "got 'a.b'"),
        ("handoff/foreign-ids-stay-linked", "'functions.read_sensor:0'"),
        ("errors/a-stream-without-its-end-is-no-answer", "got 'Monday: bed 3 was'"),
    ],
)
def test_the_library_alone_shows_it(certified: Path, tmp_path: Path, code: str, message: str) -> None:
    assert_shown(certified, tmp_path / "shown.py", code, message)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("tools/names-are-legal", "got 'a.b'"),
        ("errors/a-stream-without-its-end-is-no-answer", "got 'Monday: bed 3 was'"),
    ],
)
def test_the_librarys_agent_alone_shows_it(certified_agent: Path, tmp_path: Path, code: str, message: str) -> None:
    assert_shown(certified_agent, tmp_path / "shown.py", code, message)


def assert_shown(certified: Path, file: Path, code: str, message: str) -> None:
    done = turnproof(certified, "reproduce", code, "--out", str(file))
    assert done.returncode == 0, done.stderr
    source = file.read_text("utf-8")
    assert len(source.splitlines()) <= 60
    assert "import turnproof" not in source
    assert "from turnproof" not in source
    shown = run_file(file)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert shown.stdout.startswith("DEFECT: ")
    assert message in shown.stdout


def test_a_library_that_is_mended_is_not_accused(certified: Path, tmp_path: Path) -> None:
    file = tmp_path / "shown.py"
    assert turnproof(certified, "reproduce", "tools/names-are-legal", "--out", str(file)).returncode == 0
    (tmp_path / "sitecustomize.py").write_text(MENDED, "utf-8")
    done = run_file(file, tmp_path)
    assert (done.returncode, done.stdout) == (0, "gone: got 'a_b'\n"), done.stdout + done.stderr


def test_what_one_call_does_not_show_is_refused_with_the_reason(certified: Path) -> None:
    done = turnproof(certified, "reproduce", "core/event-loops-may-come-and-go")
    assert done.returncode == 3
    assert "it takes several calls of one object" in done.stderr
    assert done.stdout == ""
