"""Every known defect and every known behaviour is shown by a requirement, or has a reason why by none."""

from __future__ import annotations

import re

import pytest
from shared_material import shared_dir

from .trace import FILE, LISTS, SUITE, by_row, elsewhere, rows, text

ROOT = SUITE.parents[1]
LEAST = 20
"""Characters that a reason has at least: fewer say nothing."""


@pytest.mark.parametrize("kind", LISTS)
def test_no_row_of_a_list_is_missing(kind: str) -> None:
    found, shown, excused = rows(kind, shared_dir()), by_row()[kind], elsewhere()
    assert len(found) > (10 if kind == "stored" else 100)
    missing = [row for row in found if row not in shown and f"{kind}:{row}" not in excused]
    assert missing == [], "name the row in a requirement's sources, or say why not under [elsewhere]"


@pytest.mark.parametrize("kind", LISTS)
def test_no_row_is_made_up(kind: str) -> None:
    known = set(rows(kind, shared_dir()))
    assert set(by_row()[kind]) <= known
    assert {row.partition(":")[2] for row in elsewhere() if row.startswith(f"{kind}:")} <= known


def test_the_tables_follow_from_the_requirements_sources() -> None:
    assert FILE.read_text() == text(), "run: python -m tests.suites.trace --write"


def test_what_a_requirement_shows_is_not_excused_as_well() -> None:
    shown = {f"{kind}:{row}" for kind, found in by_row().items() for row in found}
    assert shown.isdisjoint(elsewhere())


def test_a_reason_says_something_and_the_files_it_names_are_there() -> None:
    for row, reason in elsewhere().items():
        assert len(reason) >= LEAST, row
        for name in re.findall(r"(?:tests|docs|harness|adapters|benchmarks)/[\w./-]*\w", reason):
            assert (ROOT / name).exists(), f"{row}: {name}"
