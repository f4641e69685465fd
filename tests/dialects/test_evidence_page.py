"""The page of evidence says what the rules say."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import evidence
from .evidence import PAGE, page


def test_the_page_of_evidence_is_the_one_that_the_rules_make() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.dialects --write"


def test_an_old_page_is_named_and_written_only_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "evidence.md"
    old.write_text("as it was", "utf-8")
    monkeypatch.setattr(evidence, "PAGE", old)

    assert evidence.update(write=False) == [old]
    assert old.read_text("utf-8") == "as it was"
    assert evidence.update(write=True) == [old]
    assert old.read_text("utf-8") == page()
    assert evidence.update(write=False) == []
