"""`certify --watch`, as a user runs it: a file is saved, and the verdict is there again."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("watchfiles")

pytestmark = pytest.mark.long

PATIENCE = 90.0
ADAPTER = '''
import json
from dataclasses import replace

from msgspec.structs import replace as rewritten

from turnproof.messages import Message, ToolResult
from turnproof_adapters.openai.binding import BINDING as OPENAI


class Quoting:
    """An adapter that quotes text results."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def complete(self, messages, *rest, **options):
        changed = [Message(m.role, tuple(map(self.one, m.parts)), m.message_id) for m in messages]
        return self.inner.complete(changed, *rest, **options)

    def one(self, part):
        if isinstance(part, ToolResult) and isinstance(part.result, str):
            return rewritten(part, result=SPELLED)
        return part


BINDING = replace(OPENAI, name="quoting", open_legacy=None, open_stateless=lambda e: Quoting(OPENAI.open_stateless(e)))
'''
RIGHT = ADAPTER.replace("SPELLED", "part.result")
WRONG = ADAPTER.replace("SPELLED", "json.dumps(part.result)")
BROKEN = ADAPTER.replace("SPELLED", "(")


class Watched:
    """A watching command, and what it prints."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "turnproof", "certify", "watched_adapter:BINDING", "--watch"]
        command += ["--only", "tools/string-results-go-out-unquoted", "--scenario", "tools/one"]
        env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, words: str) -> str:
        """The next line that has these words."""
        seen = []
        while True:
            try:
                seen.append(self._lines.get(timeout=PATIENCE))
            except queue.Empty:
                raise AssertionError(f"{words!r} never came; there was:\n{''.join(seen)}") from None
            if words in seen[-1]:
                return seen[-1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "watched_adapter.py"
    found.write_text(WRONG)
    return found


@pytest.fixture
def watched(file: Path) -> Iterator[Watched]:
    found = Watched(file.parent)
    yield found
    if found.process.poll() is None:
        found.process.kill()
    found.process.wait()


def test_a_saved_file_is_measured_again_until_somebody_ends_it(watched: Watched, file: Path) -> None:
    assert "1 violated" in watched.until("verdict")
    watched.until("reports:")
    file.write_text(RIGHT)
    assert "changed: watched_adapter.py" in watched.until("changed:")
    assert "violated" not in watched.until("verdict")
    watched.until("reports:")
    file.write_text(BROKEN)
    watched.until("SyntaxError")
    file.write_text(WRONG)
    assert "1 violated" in watched.until("verdict")
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(PATIENCE) == 130
    assert (file.parent / "reports" / "part" / "index.html").exists()


def test_a_subject_that_cannot_be_imported_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "watched_adapter.py").write_text(BROKEN)
    found = Watched(tmp_path)
    assert found.process.wait(PATIENCE) == 2
    found.until("watched_adapter")
