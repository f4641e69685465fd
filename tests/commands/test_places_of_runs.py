"""Every command that makes runs keeps the limits of the settings, and says when the machine is starved."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnproof.commands.cli import main
from turnproof.report.progress import report_starved
from turnproof.run.driver import prefork
from turnproof.run.driver.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps such limits")

COMMANDS = {
    "certify anthropic --scenario basics/plain": "certify.engine.run_place",
    "compare anthropic openai --scenario basics/plain": "compare.live_runs.run_place",
    "explore anthropic -n 1": "explore.engine.run_place",
    "handoff anthropic openai": "handoff.engine.run_place",
    "mutants anthropic --only timeout-ignored": "certify.mutants.run_place",
    "record anthropic --only basics/plain --out cassettes": "certify.record.Runner",
}


class PlaceRequest(BaseException):
    """A place was asked for with these settings."""


def refuse(*_: Any, **settings: Any) -> None:
    raise PlaceRequest(settings)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_makes_its_runs_within_the_limits_of_the_settings(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare: Callable[..., None] = lambda *_: None  # noqa: E731
    monkeypatch.setattr(prefork, "prepare", prepare)
    monkeypatch.setattr(f"turnproof.commands.{COMMANDS[words]}", refuse)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turnproof.toml").write_text("[workers]\nmemory-mib = 512\nprocesses = 9\n")
    with pytest.raises(PlaceRequest) as request:
        main(words.split())
    (settings,) = request.value.args
    assert settings["limits"] == Limits(memory=512 * 1024 * 1024, processes=9)
    found = settings["reports"].starved if "reports" in settings else settings["on_starved"]
    assert found is report_starved
