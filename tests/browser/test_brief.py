"""The page of one screen: no script, no wider than the window, readable for everybody in both colour schemes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .accessibility import OPEN, violations


@pytest.fixture(params=["report", "hostile", "certified"])
def brief(request: Any) -> Path:
    index: Path = request.getfixturevalue(request.param)
    return next(iter(sorted(index.parent.glob("brief-*.html"))))


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_it_is_no_wider_than_the_window(brief: Path, open_page: Any, width: int) -> None:
    page = open_page(brief, viewport={"width": width, "height": 900}, java_script_enabled=True)
    page.evaluate(OPEN)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(brief: Path, open_page: Any, scheme: str) -> None:
    assert violations(open_page(brief, color_scheme=scheme)) == []


def test_a_sentence_leads_to_its_place_in_the_report(report: Path, open_page: Any) -> None:
    page = open_page(next(report.parent.glob("brief-*.html")), java_script_enabled=False)
    link = page.locator(".area.violated a").first.get_attribute("href")
    assert link.startswith("index.html#")
    target = open_page(report, link.removeprefix("index.html"))
    assert target.evaluate("document.getElementById(location.hash.slice(1)) !== null")


def test_the_picture_shows_its_text(report: Path, chromium: Any) -> None:
    picture = next(report.parent.glob("picture-*.svg"))
    page = chromium.new_page()
    page.set_content(picture.read_text())
    boxes = page.evaluate("[...document.querySelectorAll('text')].map((one) => one.getBBox().x + one.getBBox().width)")
    assert boxes
    assert max(boxes) <= page.evaluate("document.querySelector('svg').viewBox.baseVal.width")
    page.close()
