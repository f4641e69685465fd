"""Many certifications in one report: a column for each cell, what differs, and cells that are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof._base.exit_codes import Exit
from turnproof.errors import UsageError
from turnproof.judge.run_log import Environment
from turnproof.judge.verdict import Status
from turnproof.report.certification import AdapterReport, Certification, ProfileReport, RequirementReport
from turnproof.report.merged_matrix import matrix_json, matrix_md, merge
from turnproof.report.run_folders import CERTIFICATION_FILE as FILE


def adapter(status: Status = Status.HELD) -> AdapterReport:
    held = int(status is Status.HELD)
    requirement = RequirementReport("MUST", "core", status, {"stateless": status}, "", (), "", None)
    return AdapterReport(
        kind="adapter",
        run_with="",
        dialect="d",
        model="m",
        claim="emulated",
        swept=0,
        certified=bool(held),
        conditional=False,
        profiles={"core": ProfileReport(bool(held), False, (held, 1), (0, 0), 0)},
        requirements={"core/x": requirement},
    )


def cell(folder: Path, name: str, *, python: str = "3.11.7", code: int | None = 0, **adapters: AdapterReport) -> None:
    report = Certification(
        turnproof="0.1",
        profiles="2026.11",
        backend="emulate",
        depth="quick",
        seed=0,
        started="2026-11-22T00:00:00Z",
        duration_s=1.0,
        complete=code is not None,
        exit_code=code,
        digest="ab",
        problems=(),
        environment=Environment(python=python, platform="linux", packages={"sdk": "1.0"}),
        controls=(),
        adapters=adapters,
    )
    (folder / name).mkdir()
    (folder / name / FILE).write_bytes(msgspec.json.encode(report))


def table(folder: Path, *expected: str) -> list[list[str]]:
    lines = matrix_md(merge(folder, expected)).splitlines()
    return [[word.strip() for word in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_each_cell_is_a_column_and_each_profile_a_row(tmp_path: Path) -> None:
    cell(tmp_path, "one-3.11", one=adapter())
    cell(tmp_path, "one-3.12", python="3.12.1", code=1, one=adapter(Status.VIOLATED))
    assert table(tmp_path) == [
        ["MUST held", "one-3.11", "one-3.12"],
        ["---", "---", "---"],
        ["with", "Python 3.11.7, sdk 1.0", "Python 3.12.1, sdk 1.0"],
        ["core", "1/1", "**0/1**"],
        ["", "certified", "**not certified**"],
    ]


def test_cells_of_other_adapters_are_no_columns_of_this_one(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=adapter())
    cell(tmp_path, "b", two=adapter())
    assert [row for row in table(tmp_path) if row[0] == "MUST held"] == [["MUST held", "a"], ["MUST held", "b"]]


def test_the_program_behind_an_agent_is_told_with_its_version(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=msgspec.structs.replace(adapter(), kind="agent", programs=("Some Code 2.1", "shy")))
    assert ["with", "Python 3.11.7, sdk 1.0, Some Code 2.1, shy"] in table(tmp_path)


def test_what_differs_between_cells_is_told_by_itself(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=adapter())
    cell(tmp_path, "b", code=1, one=adapter(Status.VIOLATED))
    assert "- one core/x: held in a; violated in b" in matrix_md(merge(tmp_path))
    assert merge(tmp_path).exit_code is Exit.VIOLATIONS


def test_cells_that_agree_differ_in_nothing(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=adapter())
    cell(tmp_path, "b", one=adapter())
    assert merge(tmp_path).split == ()
    assert merge(tmp_path).exit_code is Exit.OK
    assert "Nothing." in matrix_md(merge(tmp_path))


def test_an_expected_cell_that_is_not_there_is_told_and_is_no_success(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=adapter())
    found = merge(tmp_path, ("a", "a-3.13"))
    assert [(one.name, bool(one.missing)) for one in found.cells] == [("a", False), ("a-3.13", True)]
    assert found.exit_code is Exit.UNDECIDED
    assert "1 of 2 cells ran" in matrix_md(found)
    assert "- a-3.13: there is no report" in matrix_md(found)


def test_what_was_not_expected_is_left_aside(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=adapter())
    cell(tmp_path, "stale", code=1, one=adapter(Status.VIOLATED))
    assert [one.name for one in merge(tmp_path, ("a",)).cells] == ["a"]
    assert merge(tmp_path, ("a",)).exit_code is Exit.OK


def test_a_run_that_was_cut_decides_nothing(tmp_path: Path) -> None:
    cell(tmp_path, "a", code=None, one=adapter())
    assert merge(tmp_path).exit_code is Exit.UNDECIDED


@pytest.mark.parametrize("expected", [(), ("a",)])
def test_a_folder_without_a_run_is_refused(tmp_path: Path, expected: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"has no folder with a certification\.json"):
        merge(tmp_path, expected)


@pytest.mark.parametrize("content", [b"{", b"{}"])
def test_a_file_that_is_no_certification_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / FILE).write_bytes(content)
    with pytest.raises(UsageError, match=r"a/certification\.json is no certification"):
        merge(tmp_path)


def test_the_json_names_its_schema(tmp_path: Path) -> None:
    cell(tmp_path, "a", one=adapter())
    plain: Any = msgspec.json.decode(matrix_json(merge(tmp_path)))
    assert plain["schema"] == "turnproof.matrix/1"
    assert plain["rows"] == [{"adapter": "one", "profile": "core", "cells": {"a": [1, 1]}}]
