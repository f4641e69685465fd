"""Whatever others write stays text: nothing of it runs, draws, loads or leads away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from . import made

PLACES = {
    "h1": "the name of an adapter",
    ".bar + *": "the header",
    "article.case .kind h5": "a violation in words",
    "article.case .advice": "a reason",
    ".expected": "an expected value",
    ".got": "an observed value",
    ".traceback": "an exception and its frames",
    ".frame": "a document",
    ".raw": "bytes on the wire",
    ".place": "a place",
    ".times": "a time line",
    ".diff": "what was compared",
    ".sides .label": "labels of a conversation",
    ".sides pre": "texts, arguments, results, errors",
    ".stream .text": "text of the model on the wire",
    ".stream .cancel": "the moment of a cancel",
    ".wire": "a body on the wire",
    ".halves": "a remedy",
    ".command code": "a command",
    ".kills text": "names of mutants",
    "#gates ~ .panel, [aria-labelledby=gates] .panel": "a gate",
    "[aria-labelledby=bench] .panel": "a benchmark",
    "[aria-labelledby=comparison] .panel": "a comparison",
    "[aria-labelledby=run]": "this run",
}


@pytest.mark.parametrize("script", [True, False])
def test_nothing_that_was_injected_runs(hostile: Path, open_page: Any, script: bool) -> None:
    page = open_page(hostile, java_script_enabled=script)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_timeout(100)
    assert page.evaluate("window.__injected") is None
    assert page.url == hostile.as_uri()


def test_no_element_comes_from_what_was_injected(hostile: Path, open_page: Any) -> None:
    page = open_page(hostile)
    assert page.evaluate("[...document.scripts].length") == 1
    for tag in ("iframe", "base", "object", "embed", "meta[http-equiv=refresh]", "img:not(.plots img)", "body style"):
        assert page.locator(tag).count() == 0, tag
    handlers = (
        "[...document.querySelectorAll('*')].filter((one) => [...one.attributes].some((a) => /^on/.test(a.name)))"
    )
    assert page.evaluate(f"{handlers}.length") == 0
    links = page.evaluate("[...document.links].map((one) => one.getAttribute('href'))")
    assert [link for link in links if not link.startswith(("#", "evidence/", "%3C", "brief-"))] == []


@pytest.mark.parametrize("place", PLACES, ids=PLACES.values())
def test_it_is_there_to_be_read(hostile: Path, open_page: Any, place: str) -> None:
    page = open_page(hostile)
    texts = page.locator(place).all_text_contents()
    assert any("<img src=x onerror=" in text for text in texts)


def test_the_whole_injection_stands_in_the_conversation(hostile: Path, open_page: Any) -> None:
    page = open_page(hostile)
    assert any(made.INJECTION in text for text in page.locator(".sides pre").all_text_contents())


def test_a_plot_is_a_picture_whatever_stands_in_it(hostile: Path, open_page: Any) -> None:
    page = open_page(hostile)
    plot = page.locator(".plots img")
    assert plot.get_attribute("src").startswith("data:image/svg+xml;base64,")
    assert plot.get_attribute("alt") == made.INJECTION
    assert page.evaluate("document.querySelector('.plots img').naturalWidth") > 0
    assert page.evaluate("window.__injected") is None


def test_filters_take_hostile_names_as_they_are(hostile: Path, open_page: Any) -> None:
    page = open_page(hostile)
    page.locator("#filters select[name=adapter]").select_option(made.INJECTION)
    assert page.locator(".requirement:visible").count() == 1
    again = open_page(hostile, page.evaluate("location.hash"))
    assert again.locator("#filters select[name=adapter]").input_value() == made.INJECTION
    assert again.evaluate("window.__injected") is None


MARKUP = {
    ".sides pre": "<iframe srcdoc=",  # a tool's result
    ".wire": "<script>window.__injected=1</script>",  # a body on the wire
    ".matrix th": "<img src=x onerror=",  # the adapter's name
    "article.case .frame": "<script>window.__injected=1</script>",  # a document
}


@pytest.mark.parametrize("place", MARKUP)
def test_a_scenario_that_is_all_markup_leaves_a_report_that_is_none(
    certified: Path, open_page: Any, place: str
) -> None:
    page = open_page(certified)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert any(MARKUP[place] in text for text in page.locator(place).all_text_contents())
    assert page.evaluate("window.__injected") is None
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, body svg[onload], base").count() == 0
