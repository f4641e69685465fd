"""Which texts on the wire are those that are held."""

from __future__ import annotations

import pytest

from turnproof.dialects.text_equality import same_but_for_borders, same_inside


def test_the_end_of_a_text_is_free_only_where_it_is_said_to_be() -> None:
    assert same_but_for_borders(["Bed 2 is "], "Bed 2 is", free_end=True)
    assert not same_but_for_borders(["Bed 2 is "], "Bed 2 is")


@pytest.mark.parametrize("sent", ["Bed 2  is", "Bed 2is", " Bed 2 is", "Bed 2 i"])
def test_white_space_elsewhere_and_letters_stay(sent: str) -> None:
    assert not same_but_for_borders(["Bed 2 is "], sent, free_end=True)


def test_white_space_within_a_text_stays_and_the_form_of_line_ends_may_change() -> None:
    assert same_inside("bed\t3\r\n dry", "bed\t3\n dry\n")
    assert not same_inside("bed\t3", "bed 3")
    assert not same_inside("bed  3", "bed 3")
    assert not same_inside("bed\n\n3", "bed\n3")
