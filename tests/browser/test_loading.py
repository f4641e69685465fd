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


def _load(page: Any) -> float:
    page.wait_for_load_state("load")
    page.wait_for_function(f"{_LOADED} > 0")
    return float(page.evaluate(_LOADED))
