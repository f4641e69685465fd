"""Files of a folder that somebody else made are read only where they are what they seem."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

import pytest

from turnproof._base.foreign_files import read_regular, refuse_links, unpack
from turnproof.errors import UsageError
from turnproof.judge.run_log import read_run
from turnproof.report.run_folders import read_certification
from turnproof.report.scenario_copies import copy_scenarios, scenario_copies
from turnproof.run.evidence import EvidenceStore

DIGEST = "ab" * 32


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    assert read_regular(tmp_path / "file") == b"content"
    with pytest.raises(UsageError, match="more than 6 bytes"):
        read_regular(tmp_path / "file", 6)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "gone")
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


@pytest.fixture(params=["pipe", "device", "link"])
def bad(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What would be waited for without end, never ends, or lies elsewhere."""
    file = tmp_path / "bad"
    if request.param == "pipe":
        os.mkfifo(file)
    elif request.param == "device":
        return Path("/dev/zero")
    else:
        (tmp_path / "elsewhere").write_text("secret")
        file.symlink_to(tmp_path / "elsewhere")
    return file


def test_nothing_else_is_read(bad: Path) -> None:
    with pytest.raises(UsageError, match=r"is no regular file|is a link"):
        read_regular(bad)
    for read in (read_run, read_certification):
        with pytest.raises(UsageError, match=r"is no regular file|is a link"):
            read(bad)


def test_evidence_is_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{DIGEST}.json.gz")
    with pytest.raises(UsageError, match="is no regular file"):
        EvidenceStore(tmp_path).get(DIGEST)


def test_evidence_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnproof.run.evidence.unpack", lambda packed: unpack(packed, 1_000_000))
    (tmp_path / f"{DIGEST}.json.gz").write_bytes(gzip.compress(bytes(2_000_000)))
    with pytest.raises(UsageError, match="unpacks to more than 1,000,000 bytes"):
        EvidenceStore(tmp_path).get(DIGEST)


def test_what_was_packed_is_unpacked() -> None:
    assert unpack(gzip.compress(b"words")) == b"words"
    for damaged in (gzip.compress(b"words")[:-5], gzip.compress(b"words") + b"more", b"words"):
        with pytest.raises(zlib.error):
            unpack(damaged)


def test_the_scenarios_of_a_run_are_read_from_its_folder(tmp_path: Path) -> None:
    scenario_file, folder = tmp_path / "mine.yaml", tmp_path / "reports"
    scenario_file.write_text("title: one")
    copy_scenarios(folder, [str(scenario_file)])
    scenario_file.unlink()
    (copy,) = scenario_copies(folder, [str(scenario_file)])
    assert Path(copy).is_relative_to(folder)
    assert Path(copy).read_text() == "title: one"
    copy_scenarios(folder, [])
    with pytest.raises(UsageError, match="is not in its folder"):
        scenario_copies(folder, [str(scenario_file)])


def test_scenarios_that_are_no_copies_stay_where_they_are(tmp_path: Path) -> None:
    """`certify --out .` in a project that keeps its scenarios in `scenarios/`."""
    own_file = tmp_path / "scenarios" / "mine" / "a.yaml"
    own_file.parent.mkdir(parents=True)
    own_file.write_text("title: mine")
    copy_scenarios(tmp_path, [str(own_file)])
    (copy,) = scenario_copies(tmp_path, [str(own_file)])
    copy_scenarios(tmp_path, [copy])
    assert Path(*scenario_copies(tmp_path, [copy])).read_text() == "title: mine"
    copy_scenarios(tmp_path, [])
    assert own_file.read_text() == "title: mine"
    assert [path.name for path in (tmp_path / "scenarios").iterdir()] == ["mine"]


def test_a_folder_of_copies_that_leads_elsewhere_is_not_emptied(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "0").mkdir(parents=True)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "scenarios").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is a link"):
        copy_scenarios(tmp_path / "reports", [])
    assert (elsewhere / "0").is_dir()


@pytest.mark.parametrize("named", ["/etc/passwd", "../../../etc/passwd", "/dev/zero", ".."])
def test_a_path_of_a_run_leads_nowhere_else(tmp_path: Path, named: str) -> None:
    with pytest.raises(UsageError, match="scenarios/0"):
        scenario_copies(tmp_path, [named])


def test_a_kept_scenario_is_no_link_and_no_pipe(tmp_path: Path) -> None:
    place = tmp_path / "scenarios" / "0"
    place.mkdir(parents=True)
    (place / "a.yaml").symlink_to("/etc/passwd")
    os.mkfifo(place / "b.yaml")
    for name in ("a.yaml", "b.yaml"):
        with pytest.raises(UsageError, match=r"is no regular file|is a link"):
            scenario_copies(tmp_path, [name])
    outside = tmp_path / "outside"
    outside.symlink_to("/etc")
    with pytest.raises(UsageError, match="is a link"):
        refuse_links(tmp_path, "outside")
