"""Two commands and one folder: the second one is refused, and changes nothing there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnproof._base.folder_lock import LOCK_FILE, locked
from turnproof.commands.certify import mutants as module
from turnproof.commands.certify.mutants import Runs, mutants
from turnproof.commands.certify.options import MutantsOptions
from turnproof.errors import UsageError


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_that_another_command_writes_into_is_refused(tmp_path: Path, resume: bool) -> None:
    (tmp_path / "mutants.json").write_text("of the first one")
    options = MutantsOptions(adapter="anthropic", only=("only-first-text-kept",), out=tmp_path, resume=resume)
    with locked(tmp_path):
        with pytest.raises(UsageError, match=rf"another run writes into .* \(process {os.getpid()}\)"):
            mutants(options)
        assert {path.name for path in tmp_path.iterdir()} == {"mutants.json", LOCK_FILE}
    assert (tmp_path / "mutants.json").read_text() == "of the first one"


def test_the_folder_is_locked_until_the_matrix_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_none(*_: object) -> None:
        """No run: every mutant of the selection is one that the subject lacks something for."""

    locked_at: dict[str, bool] = {}

    def write(path: Path, text: str) -> None:
        locked_at[path.name] = (tmp_path / LOCK_FILE).read_text() == f"{os.getpid()}\n"

    monkeypatch.setattr(Runs, "make", make_none)
    monkeypatch.setattr(module, "write_whole", write)
    mutants(MutantsOptions(adapter="ollama", only=("signature-dropped",), out=tmp_path, json=True))
    assert locked_at == {"mutants.json": True, "mutants.html": True}
    assert not (tmp_path / LOCK_FILE).exists()
