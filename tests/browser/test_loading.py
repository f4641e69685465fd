"""A page of 20 adapters and 150 requirements is there at once, and stays usable.

The one place where a test looks at a time: the best of several loads, so that a busy machine fails nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

LIMIT = 1000
"""Milliseconds from the start of the navigation until the page is loaded."""

LOADS = 6
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_REQUIREMENTS_ARE_DRAWN = """() => [...document.querySelectorAll(".requirement > summary > *")].every(
  (element) => element.checkVisibility({ contentVisibilityAuto: true })
)"""
_FILTER = """() => {
  const began = performance.now(), form = document.getElementById("filters");
  form.elements.status.value = "v";
  form.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.offsetHeight;
  return performance.now() - began;
}"""


def test_it_loads_in_less_than_a_second(large: Path, open_page: Any) -> None:
    best = min(_load(open_page(large)) for _ in range(LOADS))
    print(f"{large.stat().st_size / 1e6:.1f} MB, loaded in {best:.0f} ms at best")
    assert best < LIMIT


def test_a_filter_answers_within_a_moment(large: Path, open_page: Any) -> None:
    page = open_page(large)
    assert min(page.evaluate(_FILTER) for _ in range(3)) < LIMIT / 4
    assert page.locator(".requirement:visible").count() == 10


def test_a_picture_of_the_whole_page_has_no_blank_box(large: Path, open_page: Any) -> None:
    """Boxes off the screen wait until the page is there, and no longer."""
    page = open_page(large)
    page.wait_for_load_state("load")
    page.wait_for_function(_REQUIREMENTS_ARE_DRAWN)
    assert page.locator(".requirement").count() == 150


def test_without_a_script_no_box_waits(large: Path, open_page: Any) -> None:
    page = open_page(large, java_script_enabled=False)
    box = page.locator(".requirement").last
    assert box.evaluate("element => getComputedStyle(element).contentVisibility") == "visible"


def _load(page: Any) -> float:
    page.wait_for_load_state("load")
    page.wait_for_function(f"{_LOADED} > 0")
    return float(page.evaluate(_LOADED))
