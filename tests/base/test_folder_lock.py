"""One process at a time writes into a folder, and one that was killed holds nobody up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnproof._base.folder_lock import LOCK_FILE, locked
from turnproof.errors import UsageError

HOLD = """
import sys, time
from pathlib import Path
from turnproof._base.folder_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_one_learns_which_process_holds_the_folder(tmp_path: Path) -> None:
    with locked(tmp_path / "reports"):
        assert (tmp_path / "reports" / LOCK_FILE).read_text() == f"{os.getpid()}\n"
        with pytest.raises(UsageError, match=rf"reports \(process {os.getpid()}\)"), locked(tmp_path / "reports"):
            pass
    with locked(tmp_path / "reports"):
        pass
    assert not (tmp_path / "reports" / LOCK_FILE).exists()


def test_a_killed_process_leaves_the_file_and_no_lock(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(UsageError, match=f"process {process.pid}"), locked(tmp_path):
        pass
    process.kill()
    process.communicate()
    assert (tmp_path / LOCK_FILE).exists()
    with locked(tmp_path):
        pass


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / LOCK_FILE).symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match="cannot write"), locked(tmp_path):
        pass
    assert (tmp_path / "mine").read_text() == "mine"
