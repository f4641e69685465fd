"""Modules are imported from the snapshot, changed or not, whatever became of their files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from mutation.sources import Snapshot


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `tiny` with a module that uses another, and the import system put back afterwards."""
    (tmp_path / "tiny" / "deep").mkdir(parents=True)
    for file, text in {
        "__init__.py": "",
        "words.py": 'WORD = "moss"\n',
        "deep/__init__.py": "",
        "deep/use.py": "from ..words import WORD\n\n\ndef said() -> str:\n    return WORD\n",
    }.items():
        (tmp_path / "tiny" / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    yield tmp_path / "tiny"
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiny"]:
        del sys.modules[name]


def test_a_package_is_what_it_was_when_the_snapshot_was_taken(folder: Path) -> None:
    snapshot = Snapshot("tiny", folder)
    (folder / "words.py").write_text('WORD = "edited meanwhile"\n')
    snapshot.install()
    assert import_module("tiny.deep.use").said() == "moss"


def test_a_changed_module_is_seen_by_those_that_use_it(folder: Path) -> None:
    snapshot = Snapshot("tiny", folder)
    snapshot.change("tiny.words", 'WORD = "fern"\n')
    snapshot.install()
    assert import_module("tiny.deep.use").said() == "fern"


def test_what_was_imported_before_is_imported_anew(folder: Path) -> None:
    assert import_module("tiny.deep.use").said() == "moss"
    snapshot = Snapshot("tiny", folder)
    snapshot.change("tiny.words", 'WORD = "fern"\n')
    snapshot.install()
    assert import_module("tiny.deep.use").said() == "fern"


def test_a_module_knows_its_file_and_its_package(folder: Path) -> None:
    snapshot = Snapshot("tiny", folder)
    snapshot.install()
    module = import_module("tiny.deep.use")
    path = folder / "deep" / "use.py"
    assert (module.__file__, module.__package__) == (str(path), "tiny.deep")
    assert snapshot.files[str(path)] == module.__name__ == snapshot.module_name(path)
