"""`turnproof reproduce` of a session that opens its own client: a broken one is shown, and a right one never."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..command_line import run_turnproof

pytestmark = pytest.mark.long

TESTS = Path(__file__).resolve().parents[2]
SCENARIOS = ("tools/one", "faults/no_end", "cancel/in_text")


def certify(folder: Path, session: str) -> subprocess.CompletedProcess[str]:
    use(folder, session)
    words = [word for name in SCENARIOS for word in ("--scenario", name)]
    options = ("--path", "stateless", *words, "--out", "reports")
    return run_turnproof(folder, "certify", "their_session:SESSION", *options, modules=TESTS)


def use(folder: Path, session: str) -> None:
    """From now on this is the session that the folder's module has."""
    (folder / "their_session.py").write_text(f"from closed.reproducing import {session} as SESSION\n", "utf-8")


def reproduce(folder: Path, code: str, file: Path) -> subprocess.CompletedProcess[str]:
    return run_turnproof(folder, "reproduce", code, "--out", str(file), modules=TESTS)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of a session with a broken client, whose reproducer has that client."""
    folder = tmp_path_factory.mktemp("broken")
    done = certify(folder, "BROKEN")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


def certified_as(session: str, broken: Path, folder: Path) -> Path:
    """The same reports as those of another binding."""
    shutil.copytree(broken / "reports", folder / "reports")
    use(folder, session)
    return folder


CODES = [
    ("core/system-text-is-sent-each-turn", 'expected a request with the system text "You keep'),
    ("cancellation/silence-is-no-obstacle", "a client that left after the cancel: False"),
    ("cancellation/returns-a-cancelled-response", "Monday: bed 3 was watered"),
    ("errors/a-stream-without-its-end-is-no-answer", "got 'All is well.'"),
    ("streaming/chunks-make-up-the-text", "got ['Monday: bed 3 was', ['Recite the log.', 'All is well.']]"),
]


@pytest.mark.parametrize(("code", "message"), CODES)
def test_a_file_shows_what_a_session_does_wrong(broken: Path, tmp_path: Path, code: str, message: str) -> None:
    file = tmp_path / "shown.py"
    done = reproduce(broken, code, file)
    assert done.returncode == 0, done.stderr
    assert len(file.read_text("utf-8").splitlines()) <= 60
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-P", str(file)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (shown.returncode, shown.stdout[:8]) == (1, "DEFECT: "), shown.stdout + shown.stderr
    assert message in shown.stdout


@pytest.mark.parametrize("code", [code for code, _ in CODES])
def test_a_right_session_is_never_shown(broken: Path, tmp_path: Path, code: str) -> None:
    file = tmp_path / "shown.py"
    done = reproduce(certified_as("MENDED", broken, tmp_path), code, file)
    assert done.returncode == 3
    assert "the library alone does not show it" in done.stderr, done.stderr
    assert "look at the session, or at its binding" in done.stderr
    assert not file.exists()


def test_a_conversation_is_no_longer_than_the_mistake_needs(broken: Path, tmp_path: Path) -> None:
    file = tmp_path / "shown.py"
    assert reproduce(broken, "cancellation/silence-is-no-obstacle", file).returncode == 0
    source = file.read_text("utf-8")
    assert "TURNS = ['Recite the whole log.']" in source
    assert "system=None, tools=()" in source


def test_a_right_session_has_nothing_to_reproduce(tmp_path: Path) -> None:
    assert certify(tmp_path, "RIGHT").returncode in (0, 3)
    done = reproduce(tmp_path, "cancellation/silence-is-no-obstacle", tmp_path / "shown.py")
    assert done.returncode == 2
    assert "nothing to reproduce" in done.stderr


def test_a_session_whose_binding_does_not_say_how_its_library_is_used_is_refused(broken: Path, tmp_path: Path) -> None:
    done = reproduce(
        certified_as("UNTOLD", broken, tmp_path), "core/system-text-is-sent-each-turn", tmp_path / "shown.py"
    )
    assert done.returncode == 3
    assert "the binding of closed-broken does not say how its library is used (reproducer=)" in done.stderr
