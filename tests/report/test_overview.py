"""Several adapters on one page: paths against profiles, and nothing of it where there is one adapter alone."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest

from report.runs import ADAPTER, RESULTS, result, write_run
from turnproof.judge.run_log import Run
from turnproof.judge.verdict import held, violated
from turnproof.report.certification import certification
from turnproof.report.overview import Cell, overview
from turnproof.report.page import index_html
from turnproof.report.summary import summary_md
from turnproof.report.terminal import print_summary
from turnproof.run.evidence import EvidenceStore

OTHER = msgspec.structs.replace(ADAPTER, name="other", spec="other")


@pytest.fixture
def two(tmp_path: Path) -> Run:
    others = [
        result("core/text-arrives", "stateless", held("1 request", asked=1), "other"),
        result("core/text-arrives", "legacy", violated("gone"), "other"),
        result("core/order-kept", "legacy", held("1 request", asked=1), "other"),
        result("core/nice-names", "legacy", violated("ugly"), "other"),
    ]
    return write_run(tmp_path / "run.ndjson", [*RESULTS, *others], adapters=(ADAPTER, OTHER))


def test_a_single_adapter_needs_no_overview(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson")
    assert overview(certification(run)) is None


def test_a_row_is_a_path_and_a_cell_its_musts_held_of_those_claimed(two: Run) -> None:
    found = overview(certification(two))
    assert found is not None
    assert found.profiles == ("core", "tools")
    assert [(row.adapter, row.path, row.certified, row.cells) for row in found.rows] == [
        ("anthropic", "stateless", False, (Cell((2, 2), 2), Cell((1, 1), 1))),
        ("anthropic", "legacy", False, (Cell((1, 2), 2), Cell((0, 1), 1))),
        ("anthropic", "parity", False, (Cell((1, 1), 1), Cell((0, 1), 1))),
        ("other", "stateless", False, (Cell((1, 1), 1), None)),
        ("other", "legacy", False, (Cell((1, 2), 2), None)),
    ]


def test_every_report_shows_it(two: Run, tmp_path: Path) -> None:
    report, out = certification(two), io.StringIO()
    print_summary(two, report, out, verbose=True)
    rows = [line.split() for line in out.getvalue().splitlines() if line.startswith("other ")]
    assert rows == [["other", "stateless", "1", "-"], ["other", "legacy", "1/2", "-"]]
    assert "| **other, legacy** | 1/2 |  |" in summary_md(two, report)
    page = index_html(two, report, EvidenceStore(tmp_path))
    assert "core: 1 of 2 MUSTs held, legacy 1/2" in page
