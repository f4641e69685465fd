"""How lists and explanations look on terminals of several widths. Behind a pipe a row is a line."""

from __future__ import annotations

import json
import re

import pytest

from turnproof.commands.cli import main


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """stdout counts as a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


NAMES = {"requirements": ("id", "capability"), "scenarios": ("name", "features"), "mutants": ("name", "caught_by")}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("kind", NAMES)
def test_no_name_is_folded_on_a_terminal(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, width: int
) -> None:
    main(["list", kind, "--json"])
    rows = json.loads(capsys.readouterr().out)[kind]
    terminal.setenv("COLUMNS", str(width))
    main(["list", kind])
    shown = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out)
    words = set(shown.replace(",", " ").split())
    for row in rows:
        for column in NAMES[kind]:
            value = row[column]
            assert words >= set(value if isinstance(value, list) else [value])
    assert max(map(len, shown.splitlines())) <= width


def test_prose_below_a_row_is_indented_and_whole(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.setenv("COLUMNS", "80")
    main(["list", "requirements"])
    lines = iter(capsys.readouterr().out.splitlines())
    assert next(line for line in lines if line.startswith("core/turns-come-to")).split() == [
        "core/turns-come-to-an-end",
        "MUST",
    ]
    assert next(lines) == "  Every turn comes to an end"


def test_behind_a_pipe_a_row_is_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    main(["list", "requirements"])
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("core/turns-come-to-an-end "))
    assert line.rstrip().endswith("Every turn comes to an end")


def test_an_explanation_is_wrapped_at_its_words_on_a_terminal_alone(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.setenv("COLUMNS", "60")
    main(["explain", "tools/results-answer-every-call"])
    narrow = capsys.readouterr().out
    terminal.delenv("FORCE_COLOR")
    main(["explain", "tools/results-answer-every-call"])
    whole = capsys.readouterr().out
    assert narrow.split() == whole.split()
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, whole.splitlines()))
    reason = narrow.partition("\nwhy\n")[2].partition("\n\n")[0].splitlines()
    assert len(reason) > 1
    assert all(line.startswith("  ") for line in reason)
