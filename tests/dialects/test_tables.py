"""The tables that a dialect's package keeps as data, and what a mistake in one of them says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from turnproof.dialects import tables
from turnproof.errors import HarnessError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `half_made` without any table."""
    folder = tmp_path / "half_made"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "half_made", raising=False)
    return folder


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[difference]]\nname = "a"\nreason = "b"\nevidence = "REC"\n', "missing required field `source`"),
        ('[[difference]]\nname = "a"\nreason = "b"\nevidence = "X"\nsource = "c"\n', "Invalid enum value 'X'"),
        ("[[difference]\n", "line 1"),
    ],
)
def test_a_wrong_row_is_refused_with_its_file_and_place(package: Path, text: str, message: str) -> None:
    (package / "allowed.toml").write_text(text)
    with pytest.raises(HarnessError, match=message) as raised:
        tables.load_allowed("half_made")
    assert str(package / "allowed.toml") in str(raised.value)


def test_an_error_has_a_number_as_its_status_and_two_words(package: Path) -> None:
    (package / "errors.toml").write_text('[own]\n400 = ["bad", "That is bad."]\n')
    assert tables.load_errors("half_made") == {"own": {400: ("bad", "That is bad.")}}
    (package / "errors.toml").write_text('[own]\nlate = ["bad", "That is bad."]\n')
    with pytest.raises(HarnessError, match="Expected `int`"):
        tables.load_errors("half_made")
