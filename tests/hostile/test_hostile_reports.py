"""What adapters and services say, where people read it: nothing steers a terminal, and nobody is shown megabytes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from mutants.test_matrix_text import matrix_of, row, shown

from turnproof._base.canonical import canonical
from turnproof.commands.certify.kill_matrix import Outcome
from turnproof.commands.certify.kill_matrix_reports import matrix_page
from turnproof.commands.cli import main
from turnproof.judge import verdict
from turnproof.judge.verdict_words import details_of
from turnproof.judge.verdict_words import message_of as told_as

HOSTILE = "</script><script>alert(1)</script> \x1b[31m\x1b]0;title\x07 \x00\u202e \ud800 ]]>"


def test_the_one_line_of_a_fault_steers_no_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["report", str(tmp_path / "\x1b[31m\x1b]0;title\x07\u202e")]) == 2
    stderr = capsys.readouterr().err
    assert "\\x1b[31m" in stderr
    assert not {"\x1b", "\x07", "\u202e"} & set(stderr)


@pytest.mark.parametrize("make", [verdict.violated, verdict.inconclusive])
def test_a_verdict_says_what_a_person_can_read(make: object) -> None:
    """The evidence has the megabytes that an error may have said."""
    assert callable(make)
    found = make("it said " + "x" * 5_000_000, detail="y" * 5_000_000)
    message, detail = told_as(found, {}), details_of(found, {})
    assert message.startswith("it said xx")
    assert message.endswith("… (5000008 characters)")
    assert len(message) < 5_000
    assert len(detail) < 101_000
    assert len(told_as(verdict.combine([found, found]), {})) < 5_100


def test_a_kill_matrix_shows_what_adapters_said_as_text() -> None:
    survivor, control = row("bad", Outcome.SURVIVED, detail=HOSTILE), {"core/a [stateless]": HOSTILE}
    text, page = shown(survivor, control=control), matrix_page(matrix_of(survivor, control=control))
    assert "\\x1b[31m" in text
    for document in (text, page):
        assert not {"\x1b", "\x07", "\x00", "\u202e", "\ud800"} & set(document)
    assert "<script>" not in page
    assert "\\\\ud800" in canonical(matrix_of(survivor, control=control)).decode()
    assert msgspec.json.decode(canonical(matrix_of(survivor)))["adapter"] == "mine"
