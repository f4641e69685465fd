"""The page of a history: its table scrolls in its own box, and it reads in both colour schemes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from report.runs import GOOD, HEADER, RESULTS, write_run

from turnproof.report.history import history
from turnproof.report.history_html import history_html


@pytest.fixture(scope="module")
def page_of_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    for day, results in enumerate((GOOD, RESULTS, GOOD), 1):
        header = msgspec.structs.replace(HEADER, started=f"2026-11-0{day}T10:00:00Z", allowed_only=())
        write_run(folder / f"run-{day}" / "run.ndjson", results, header=header)
    (folder / "history.html").write_text(history_html(history(folder)))
    return folder / "history.html"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_it_is_no_wider_than_the_window(page_of_history: Path, open_page: Any, width: int) -> None:
    page = open_page(page_of_history, viewport={"width": width, "height": 900})
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    boxes = page.evaluate(
        "[...document.querySelectorAll('.change span')].map((one) => one.getBoundingClientRect().right)"
    )
    assert boxes
    assert max(boxes) <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page_of_history: Path, open_page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(open_page(page_of_history, color_scheme=scheme)).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []
