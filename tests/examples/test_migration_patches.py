"""The changes of the migration example apply one after the other, on the way of each owner of the history."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "migration"


@pytest.mark.parametrize("changes", ["changes", "changes/chain"])
def test_every_change_applies_behind_those_before_it(tmp_path: Path, changes: str) -> None:
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", "reports"))
    patches = sorted((EXAMPLE / changes).glob("*.patch"))
    assert len(patches) >= 4
    for patch in patches:
        applied = subprocess.run(["git", "apply", str(patch)], cwd=project, capture_output=True, text=True, check=False)
        assert applied.returncode == 0, f"{patch.name}: {applied.stderr}"
