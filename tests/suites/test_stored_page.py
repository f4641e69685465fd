"""The page about stored conversations names, for every known defect, the requirements that show it."""

from __future__ import annotations

import re

from .trace import SUITE, by_row

PAGE = SUITE.parents[1] / "docs" / "stored-conversations.md"


def rows() -> dict[str, list[str]]:
    found = re.findall(r"^\| (SO\d+) \| [^|]* \| ([^|]*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {row: re.findall(r"`(stored/[a-z-]+)`", cell) for row, cell in found}


def test_the_table_has_every_defect_with_the_requirements_that_name_it() -> None:
    assert rows() == by_row()["stored"]
    assert list(rows()) == [f"SO{number}" for number in range(1, 16)]
