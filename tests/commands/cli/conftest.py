"""Where the tests of `turnproof sessions` run the command, and how."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TextIO

import pytest

from turnproof.commands.cli import main

from .kit import BINDING, Done, Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder of its own, with the user's data beside it, and a key."""
    here = tmp_path / "here"
    here.mkdir()
    (here / ".git").mkdir()
    (here / "their_echo.py").write_text(BINDING)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TURNPROOF_API_KEY", "key-1")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "their_echo", raising=False)
    return here


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `turnproof sessions` with these words and this on stdin."""

    def run(*words: str, stdin: str | TextIO = "", terminal: bool = False) -> Done:
        typed = io.StringIO(stdin) if isinstance(stdin, str) else stdin
        typed.isatty = lambda: terminal  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stdin", typed)
        code = main(["sessions", *words])
        out, err = capsys.readouterr()
        return Done(code, out, err.splitlines())

    return run
