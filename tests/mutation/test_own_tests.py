"""Which tests are asked about a line."""

from __future__ import annotations

import pytest

from .own_tests import MOST, Reach

REACH = Reach(
    breadth={"broad": 90, "narrow": 2, "passing-by": 7, "elsewhere": 1},
    lines={
        # Lines 1 and 2 run when it is imported, the others where a test comes by.
        "adapter": {1: frozenset({""}), 2: frozenset({""}), 5: frozenset({"broad", "narrow"}), 6: frozenset({"broad"})},
        "names": {1: frozenset({""})},
        "failing": {3: frozenset({"fails-unharmed", "narrow"})},
    },
    imported=frozenset(),
)


@pytest.mark.parametrize(
    ("module", "lines", "tests"),
    [
        ("adapter", range(6, 7), ["broad"]),
        ("adapter", range(5, 7), ["narrow", "broad"]),
        ("adapter", range(2, 3), ["narrow", "broad"]),
        ("adapter", range(9, 10), []),
        ("names", range(1, 2), ["elsewhere", "narrow", "passing-by", "broad"]),
        ("failing", range(3, 4), ["narrow"]),
        ("unknown", range(1, 2), []),
    ],
    ids=["line", "statement", "constant", "never-run", "constants-only", "failing-test", "unknown-module"],
)
def test_those_that_come_by_are_asked_the_narrowest_first(module: str, lines: range, tests: list[str]) -> None:
    assert REACH.of(module, lines) == tests


def test_the_broadest_are_left_out_where_there_are_too_many() -> None:
    breadth = {f"test-{width}": width for width in range(MOST + 10)}
    reach = Reach(breadth, {"adapter": {1: frozenset(breadth)}}, frozenset())
    assert reach.of("adapter", range(1, 2)) == [f"test-{width}" for width in range(MOST)]
