"""Filters, and addresses that lead to a place or to what was filtered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CASE = "#anthropic/tools/pairs"
ARTICLE = "article[id='anthropic/tools/pairs']"


def shown(page: Any) -> list[str]:
    return [one.get_attribute("id") for one in page.locator(".requirement:visible").all()]


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("status", "v", ["tools/pairs"]),
        ("status", "h", ["core/text-arrives"]),
        ("profile", "tools", ["tools/pairs", "tools/names"]),
        ("level", "SHOULD", ["tools/names"]),
        ("adapter", "anthropic", ["core/text-arrives", "tools/pairs", "tools/names"]),
        ("path", "legacy", ["core/text-arrives", "tools/pairs", "tools/names"]),
    ],
)
def test_each_filter_shows_what_is_like_that(
    report: Path, open_page: Any, field: str, value: str, found: list[str]
) -> None:
    page = open_page(report)
    page.locator(f"#filters select[name={field}]").select_option(value)
    assert shown(page) == found
    assert page.locator("#found").inner_text() == f"{len(found)} of 3 requirements"


def test_words_are_looked_for_in_id_title_and_reason(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.keyboard.press("/")
    page.keyboard.type("PAIRS refuses")
    assert shown(page) == ["tools/pairs"]
    page.keyboard.type(" nothing-has-this")
    assert shown(page) == []
    assert page.locator("#none").is_visible()
    page.locator("#reset").click()
    assert len(shown(page)) == 3


def test_filters_add_up_and_a_path_has_its_own_status(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.locator("#filters select[name=path]").select_option("legacy")
    page.locator("#filters select[name=status]").select_option("n")
    assert shown(page) == ["tools/names"]
    page.locator("#filters select[name=profile]").select_option("core")
    assert shown(page) == []


def test_an_address_keeps_the_filters(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.locator("#filters select[name=status]").select_option("v")
    assert page.url.endswith("#?status=v")
    again = open_page(report, "#?status=v&path=legacy")
    assert shown(again) == ["tools/pairs"]
    assert again.locator("#filters select[name=path]").input_value() == "legacy"


def test_an_unknown_filter_in_an_address_hides_nothing(report: Path, open_page: Any) -> None:
    assert len(shown(open_page(report, "#?status=zzz&nothing=1&adapter=x"))) == 3


def test_a_cell_of_the_matrix_leads_to_what_it_counts(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.locator(".matrix td.cell a").last.click()
    page.wait_for_function("location.hash.includes('profile=tools')")
    assert shown(page) == ["tools/pairs", "tools/names"]


@pytest.mark.parametrize("script", [True, False])
def test_a_link_to_a_case_opens_what_it_stands_in(report: Path, open_page: Any, script: bool) -> None:
    page = open_page(report, CASE, java_script_enabled=script)
    case = page.locator(ARTICLE)
    case.wait_for(state="visible")
    box = case.bounding_box()
    assert 0 <= box["y"] < 720


def test_a_link_to_what_was_filtered_out_shows_it(report: Path, open_page: Any) -> None:
    page = open_page(report, "#?profile=core")
    assert shown(page) == ["core/text-arrives"]
    page.evaluate(f"location.hash = {CASE!r}")
    page.locator(ARTICLE).wait_for(state="visible")


def test_a_link_to_nothing_does_no_harm(report: Path, open_page: Any) -> None:
    page = open_page(report, "#no/such/place%zz")
    assert len(shown(page)) == 3


def test_a_command_can_be_copied(report: Path, open_page: Any) -> None:
    page = open_page(report, CASE, permissions=["clipboard-read", "clipboard-write"])
    page.locator(f"{ARTICLE} .command button").first.click()
    page.locator(f"{ARTICLE} .command button", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "turnproof certify anthropic --only tools/pairs"


def test_all_can_be_opened_and_closed_by_keyboard(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.locator("#open-all").focus()
    page.keyboard.press("Enter")
    assert page.locator(".requirement[open]").count() == 3
    page.locator("#close-all").focus()
    page.keyboard.press("Space")
    assert page.locator(".requirement[open]").count() == 0
    page.locator(".requirement summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".requirement[open]").count() == 1


STEPS = f"{ARTICLE} .occurrences"


def test_occurrences_are_stepped_through_with_the_mouse_and_with_keys(report: Path, open_page: Any) -> None:
    page = open_page(report, CASE)
    steps = page.locator(STEPS).first
    place, on, back = (
        steps.locator("output"),
        steps.get_by_label("Next occurrence"),
        steps.get_by_label("Previous occurrence"),
    )
    visible = steps.locator(":scope > .occurrence:visible")
    assert (place.inner_text(), visible.count(), back.is_disabled()) == ("1 of 3", 1, True)
    on.click()
    assert (place.inner_text(), visible.count(), back.is_disabled()) == ("2 of 3", 1, False)
    page.keyboard.press("ArrowRight")
    assert place.inner_text() == "3 of 3"
    assert steps.locator(":scope > .occurrence:visible .document").first.is_visible()
    # The button that has nothing left to do gives the focus on.
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Previous occurrence"
    page.keyboard.press("Home")
    assert place.inner_text() == "1 of 3"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") != "BODY"


def test_without_the_script_every_occurrence_can_be_opened(report: Path, open_page: Any) -> None:
    page = open_page(report, CASE, java_script_enabled=False)
    steps = page.locator(STEPS).first
    assert steps.locator("button").count() == 0
    found = steps.locator(":scope > .occurrence")
    assert found.count() == 3
    found.last.locator("summary").first.click()
    assert found.last.locator(".document").first.is_visible()


def test_what_failed_is_a_click_away(report: Path, open_page: Any) -> None:
    page = open_page(report)
    page.get_by_role("link", name="Only failed (1)").click()
    page.wait_for_function("location.hash.includes('status=v')")
    assert shown(page) == ["tools/pairs"]


def test_a_mark_of_evidence_leads_to_what_it_means(report: Path, open_page: Any) -> None:
    page = open_page(report, CASE)
    page.locator(f"{ARTICLE} a.mark").first.click()
    page.wait_for_function("location.hash === '#mark/ISSUE'")
    box = page.locator("[id='mark/ISSUE']").bounding_box()
    assert 0 <= box["y"] < 720
