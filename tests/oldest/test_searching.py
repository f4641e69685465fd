"""The search for the oldest version: it tries both sides of the border, and few others."""

from __future__ import annotations

import pytest

from .__main__ import first_good

VERSIONS = [f"1.{n}" for n in range(40)]


@pytest.mark.parametrize("border", [0, 1, 17, 39])
def test_the_first_good_version_and_the_one_before_it_are_found_and_tried(border: int) -> None:
    tried: list[int] = []

    def works(version: str) -> bool:
        tried.append(VERSIONS.index(version))
        return tried[-1] >= border

    assert first_good(VERSIONS, works) == (VERSIONS[border], VERSIONS[border - 1] if border else None)
    assert {border, *([border - 1] if border else [])} <= set(tried)
    assert len(tried) <= 8


def test_a_package_of_which_nothing_works_is_told() -> None:
    with pytest.raises(LookupError, match=r"not even 1\.39 works"):
        first_good(VERSIONS, lambda version: False)
