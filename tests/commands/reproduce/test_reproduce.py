"""`turnproof reproduce`: an adapter is broken, certified, and each of its findings becomes a file that shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ..command_line import run_turnproof

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "httpx_chat"

BREAKS = {
    "value if isinstance(value, str) else json.dumps": "json.dumps",  # texts of tools go out in quotes
    "            if answer.raw_finish is None:\n": "            if False:\n",  # a cut stream is an answer
    r"|\r(?!\Z)": r"|\r(?!\Z)|\xe2\x80\xa8",  # lines end at U+2028
    "or errors.OverloadedError": "or errors.InvalidRequestError",
    "float(wait)\n": "float(wait) + 5\n",
    'usage["prompt_tokens"], usage': 'usage["prompt_tokens"] + 7, usage',
    # Only the first call of an object sends the system text.
    "        if system:\n": '        if system and "asked" not in vars(self) and not setattr(self, "asked", 1):\n',
    "return answer.response(cancelled=True)": "return answer.response()",
}
"""What is replaced in the adapter, and by what: mistakes in requests, in answers and about their end."""

SCENARIOS = (
    "tools/one",
    "faults/no_end",
    "basics/unicode_borders",
    "faults/rate_limited",
    "faults/misleading_words",
    "cancel/in_text",
)


def run_file(file: Path, adapter: Path) -> subprocess.CompletedProcess[str]:
    """Run a file by itself, beside the adapter that it calls."""
    environment = {**os.environ, "PYTHONPATH": str(adapter)}
    command = [sys.executable, "-P", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the broken adapter, and the reports of its certification."""
    folder = tmp_path_factory.mktemp("broken")
    for file in EXAMPLE.glob("httpx_chat*.py"):
        shutil.copy(file, folder)
    source = (folder / "httpx_chat.py").read_text("utf-8")
    for right, wrong in BREAKS.items():
        assert right in source
        source = source.replace(right, wrong)
    (folder / "httpx_chat.py").write_text(source, "utf-8")
    words = [word for name in SCENARIOS for word in ("--scenario", name)]
    done = run_turnproof(folder, "certify", "httpx_chat_binding:BINDING", *words, "--out", "reports")
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


@pytest.fixture
def reproduced(broken: Path, tmp_path: Path) -> Callable[[str], Path]:
    def reproduce(code: str) -> Path:
        file = tmp_path / "shown.py"
        done = run_turnproof(broken, "reproduce", code, "--out", str(file))
        assert done.returncode == 0, done.stderr
        return file

    return reproduce


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("tools/string-results-go-out-unquoted/changed", 'expected "41 %"; got \'"41 %"\''),
        ("errors/a-stream-without-its-end-is-no-answer/returned", "got 'Monday: bed 3 was'"),
        ("accounting/prompt-counts-everything/wrong-count", "expected 31 prompt tokens; got 38"),
        ("errors/class-fits-the-status/wrong-class", "got 'InvalidRequestError'"),
        ("errors/retry-after-is-kept/wrong-wait", "expected a `retry_after` of 17.0 seconds; got 22.0"),
        ("core/a-good-answer-is-returned/raised", 'got "TransportError('),
        ("parity/same-outcome-of-each-turn", "DEFECT: "),
        ("core/system-text-is-sent-each-turn/missing", 'expected a request with the system text "You keep'),
        ("cancellation/returns-a-cancelled-response", "DEFECT: "),
    ],
)
def test_a_file_shows_the_mistake_and_says_that_it_is_gone_from_the_right_adapter(
    broken: Path, reproduced: Callable[[str], Path], code: str, message: str
) -> None:
    file = reproduced(code)
    assert len(file.read_text("utf-8").splitlines()) <= 60
    shown = run_file(file, broken)
    assert (shown.returncode, shown.stdout[:8]) == (1, "DEFECT: "), shown.stdout + shown.stderr
    assert message in shown.stdout
    right = run_file(file, EXAMPLE)
    assert (right.returncode, right.stdout[:6]) == (0, "gone: "), right.stdout + right.stderr


def test_a_file_has_nothing_that_judges(reproduced: Callable[[str], Path]) -> None:
    source = reproduced("tools/string-results-go-out-unquoted").read_text("utf-8")
    modules = set(re.findall(r"^(?:from|import) (turnproof[\w.]*)", source, flags=re.MULTILINE))
    assert modules == {"turnproof.messages", "turnproof.provider"}


def test_a_conversation_is_no_longer_than_the_mistake_needs(reproduced: Callable[[str], Path]) -> None:
    source = reproduced("errors/a-stream-without-its-end-is-no-answer").read_text("utf-8")
    assert source.count("Message(role=") == 1
    assert "complete(messages, None, [" in source


def test_a_finding_that_the_run_does_not_have_is_named_with_those_that_it_has(broken: Path) -> None:
    done = run_turnproof(broken, "reproduce", "tools/call-ids-are-kept")
    assert done.returncode == 2
    assert "has no finding 'tools/call-ids-are-kept'" in done.stderr
    assert "errors/a-stream-without-its-end-is-no-answer/returned" in done.stderr


def test_a_right_adapter_has_nothing_to_reproduce(tmp_path: Path) -> None:
    for file in EXAMPLE.glob("httpx_chat*.py"):
        shutil.copy(file, tmp_path)
    words = ("--scenario", "tools/one", "--out", "reports")
    assert run_turnproof(tmp_path, "certify", "httpx_chat_binding:BINDING", *words).returncode in (0, 3)
    done = run_turnproof(tmp_path, "reproduce", "tools/string-results-go-out-unquoted")
    assert done.returncode == 2
    assert "nothing to reproduce" in done.stderr


def test_a_mistake_that_is_mended_after_the_run_is_not_shown(broken: Path, tmp_path: Path) -> None:
    shutil.copytree(broken / "reports", tmp_path / "reports")
    for file in EXAMPLE.glob("httpx_chat*.py"):
        shutil.copy(file, tmp_path)
    file = tmp_path / "shown.py"
    done = run_turnproof(tmp_path, "reproduce", "tools/string-results-go-out-unquoted", "--out", str(file))
    assert done.returncode == 3
    assert "the library alone does not show it" in done.stderr
    assert not file.exists()
