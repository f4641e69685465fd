"""Recording: from the emulator, and from a "real" API, which here is a second emulator behind a key of its own.

No key and no network were there for a recording of the real API; what is proved is the code path, the scrubbing and
the budget.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from os import environ
from pathlib import Path

import pytest

from turnproof.commands.certify.record import RecordOptions, record
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.errors import UsageError
from turnproof.judge.requirements import load_suite
from turnproof.wire.cassettes import find_secret, load
from turnproof.wire.emulator.serve import ServeOptions, serve
from turnproof.wire.emulator.server_run import CANARY_KEY

SCENARIO = "tools/one"
REAL_KEY = "sk-real-0123456789abcdef0123456789"


@pytest.fixture
def real_api(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The stand-in for the real API; gives the lines of its log."""
    scenario = next(s for s in suite_scenarios(load_suite()) if s.name == SCENARIO)
    stop, ready = threading.Event(), threading.Event()
    urls: list[str] = []
    lines: list[str] = []

    def out(url: str) -> None:
        urls.append(url)
        ready.set()

    options = ServeOptions(scenario=scenario, key=REAL_KEY)
    thread = threading.Thread(target=serve, args=(options, out, lines.append, stop))
    thread.start()
    assert ready.wait(60)
    monkeypatch.setenv("ANTHROPIC_API_KEY", REAL_KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", urls[0])
    yield lines
    stop.set()
    thread.join(60)


def test_a_recording_of_the_emulator_says_so_and_holds_no_key(tmp_path: Path) -> None:
    lines: list[str] = []
    assert record(RecordOptions("anthropic", only=(SCENARIO,), out=tmp_path, jobs=1), lines.append) == 0
    path = tmp_path / "anthropic/tools/one.yaml"
    cassette = load(path)
    assert cassette.provenance == "recorded from emulated"
    assert f"{len(cassette.interactions)} exchanges" in lines[0]
    assert find_secret(path.read_text(), [CANARY_KEY]) == []
    assert not (tmp_path / "anthropic/tools/one.legacy.yaml").exists()


def test_a_live_recording_goes_to_the_real_api_with_the_real_key_and_keeps_neither(
    tmp_path: Path, real_api: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    # A service on this machine costs nothing, so no budget is too small for it.
    options = RecordOptions("anthropic", only=(SCENARIO,), out=tmp_path, live=True, max_cost=0.0001, jobs=1)
    assert record(options, lambda line: None) == 0
    path = tmp_path / "anthropic/tools/one.yaml"
    cassette = load(path)
    assert cassette.provenance.startswith("recorded from live")
    assert cassette.interactions
    # Whoever answered is named: a recording of an imitation is not taken for one of the vendor.
    assert all(item.request.uri.startswith(f"{environ['ANTHROPIC_BASE_URL']}/v1/") for item in cassette.interactions)
    assert find_secret(path.read_text(), [REAL_KEY, CANARY_KEY]) == []
    assert "estimated cost" not in capsys.readouterr().err
    assert any("-> 200" in line for line in real_api)


def test_a_live_recording_over_the_budget_is_refused_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", REAL_KEY)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="--max-cost"):
        record(RecordOptions("anthropic", only=(SCENARIO,), out=tmp_path, live=True, max_cost=0.0001))
    assert list(tmp_path.iterdir()) == []


def test_a_live_recording_without_a_key_says_which_one_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        record(RecordOptions("anthropic", only=(SCENARIO,), out=tmp_path, live=True))


def test_a_scenario_that_does_not_exist_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'tools/one'"):
        record(RecordOptions("anthropic", only=("tools/ones",), out=tmp_path))


def test_the_live_backend_certifies_against_the_real_api(tmp_path: Path, real_api: list[str]) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "turnproof", "certify", "anthropic", "--backend", "live", "--scenario", SCENARIO,
            "--only", "core/text-is-what-the-wire-carried", "-j", "1",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "live" in done.stdout
    for file in (tmp_path / "reports").rglob("*"):
        if file.is_file() and file.suffix != ".gz":
            assert REAL_KEY not in file.read_text()
