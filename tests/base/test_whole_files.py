"""Files are replaced in one step: a reader, a killed writer and a full disk never leave half of one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnproof._base.whole_files import PART, part_of, remove, write_whole
from turnproof.errors import UsageError


def test_a_file_is_replaced_with_its_folder_made_and_nothing_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "new" / "report.txt"
    write_whole(file, "größer")
    write_whole(file, b"bytes")
    assert file.read_bytes() == b"bytes"
    assert [path.name for path in file.parent.iterdir()] == ["report.txt"]


def test_a_file_that_cannot_be_written_keeps_its_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.txt"
    write_whole(file, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"cannot write .*report\.txt: No space left on device"):
        write_whole(file, "new")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]


def test_a_link_stays_a_link_and_a_private_file_stays_private(tmp_path: Path) -> None:
    file, link = tmp_path / "settings.toml", tmp_path / "link.toml"
    file.write_text("old")
    file.chmod(0o600)
    link.symlink_to(file)
    write_whole(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o600


def test_in_a_foreign_folder_a_link_or_a_pipe_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "mine.txt", tmp_path / "foreign"
    outside.write_text("mine")
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    part_of(folder / "whole").symlink_to(outside)
    for name in ("link", "pipe", "whole"):
        write_whole(folder / name, "report", foreign=True)
        assert not (folder / name).is_symlink()
        assert (folder / name).read_text() == "report"
    assert outside.read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["link", "pipe", "whole"]


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_whole(Path(os.devnull), "nothing")
    assert not Path(os.devnull).is_file()


def test_a_folder_under_the_name_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.txt").mkdir()
    with pytest.raises(UsageError, match=r"cannot write .*report\.txt"):
        write_whole(tmp_path / "report.txt", "new")
    with pytest.raises(UsageError, match=r"cannot remove .*report\.txt"):
        remove(tmp_path, "*.txt")
    assert not list(tmp_path.glob(f"*{PART}"))
