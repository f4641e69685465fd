"""The page reads without its script, in either colour, on paper and for those who cannot see it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .accessibility import OPEN, violations

HEADINGS = "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((one) => Number(one.tagName[1]))"
NAMELESS = """[...document.querySelectorAll('a, button, input, select, summary')].filter((one) =>
  !(one.innerText || one.getAttribute('aria-label') || (one.labels && one.labels.length))).length"""

COLOURS = """async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const pixels = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
  const dark = pixels.filter((pixel) => Math.max(pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255) < 128);
  return { colours: new Set(pixels).size, dark: dark.length / pixels.length };
}"""


@pytest.fixture
def blank(chromium: Any) -> Iterator[Any]:
    """A page with nothing on it, to reckon in."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def test_without_the_script_everything_is_there(report: Path, open_page: Any) -> None:
    page = open_page(report, java_script_enabled=False)
    assert not page.locator("#filters").is_visible()
    summaries = page.locator(".requirement > summary")
    assert summaries.count() == 3
    for summary in summaries.all():
        if summary.locator("..").get_attribute("open") is None:
            summary.click()
    for words in ("Likely cause", "the wire carried", "the bytes on the wire", "Kill matrix", "Gates of the migration"):
        assert page.get_by_text(words).first.is_visible()
    assert page.locator("article.case .turn .stream .cancel").count() > 0
    assert page.locator(".command button").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_page_is_not_blank_and_no_wider_than_the_window(
    report: Path, open_page: Any, blank: Any, scheme: str, width: int
) -> None:
    page = open_page(report, color_scheme=scheme, viewport={"width": width, "height": 900})
    page.evaluate(OPEN)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    seen = blank.evaluate(COLOURS, base64.b64encode(page.screenshot()).decode())
    assert seen["colours"] > 20
    assert (seen["dark"] > 0.5) == (scheme == "dark")


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("kind", ["report", "hostile", "large", "certified"])
def test_nothing_is_wider_than_the_window(request: Any, open_page: Any, kind: str, width: int) -> None:
    page = open_page(request.getfixturevalue(kind), viewport={"width": width, "height": 900})
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    page.evaluate(OPEN)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_paper_has_everything_and_no_buttons(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.emulate_media(media="print")
    assert not page.locator("#filters").is_visible()
    assert not page.locator("nav").is_visible()
    page.emulate_media(media="screen")
    paper = page.pdf()
    assert paper.startswith(b"%PDF")
    # A closed requirement alone would be a line; open, its page and its conversation take several sheets.
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page/") + paper.count(b"/Type/Page/") > 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(report: Path, open_page: Any, scheme: str) -> None:
    assert violations(open_page(report, color_scheme=scheme)) == []


def test_headings_descend_one_step_at_a_time(report: Path, open_page: Any) -> None:
    levels = open_page(report).evaluate(HEADINGS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_whatever_can_be_used_has_a_name_and_every_header_a_scope(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.evaluate(OPEN)
    assert page.evaluate(NAMELESS) == 0
    assert page.locator("th:not([scope])").count() == 0


def test_tab_goes_through_the_page_from_the_top(report: Path, open_page: Any) -> None:
    page = open_page(report)
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.getBoundingClientRect().top + scrollY"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert page.evaluate("document.activeElement !== document.body")
    assert seen[1:] == sorted(seen[1:])
