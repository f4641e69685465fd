"""The kill matrix as a page."""

from __future__ import annotations

import pytest
from report.page import Page

from turnproof.commands.certify.kill_matrix import Outcome, median_others
from turnproof.commands.certify.kill_matrix_reports import matrix_page

from .test_matrix_text import matrix_of, row


def test_a_dot_stands_for_each_requirement_that_a_mutant_trips() -> None:
    good_row = row("good", Outcome.CAUGHT, "core/idle")
    page = Page(matrix_page(matrix_of(good_row, row("bad", Outcome.SURVIVED))))
    dots = [(tag, attributes["class"]) for tag, attributes in page.tags if tag in ("circle", "rect")]
    assert {("circle", "other"), ("circle", "own"), ("rect", "missed")} <= set(dots)
    assert "good: core/idle" in page.text


def test_it_says_how_many_were_caught_and_how_loud_the_suite_is() -> None:
    rows = [row("a", Outcome.CAUGHT), row("b", Outcome.CAUGHT, "x", "y"), row("c", Outcome.NOT_CLAIMED)]
    text = Page(matrix_page(matrix_of(*rows))).text
    assert "2 of 2 mutants that break something here were caught" in text
    assert "no more than 1 others" in text
    assert "1 break what is not claimed" in text


def test_a_control_that_does_not_hold_and_an_empty_run_are_told_at_the_top() -> None:
    text = Page(matrix_page(matrix_of(control={"core/a [legacy]": "it <fails>"}))).text
    assert "The control itself violates core/a [legacy]: it <fails>" in text
    assert "Nothing was measured." in text


@pytest.mark.parametrize(("counts", "middle"), [((), 0), ((0, 4, 1), 1), ((1, 2), 1.5)])
def test_the_median_is_that_of_caught_mutants_alone(counts: tuple[int, ...], middle: float) -> None:
    rows = [row(f"m{n}", Outcome.CAUGHT, *map(str, range(count))) for n, count in enumerate(counts)]
    assert median_others([*rows, row("loud", Outcome.CRASHED, *map(str, range(9)))]) == middle
