"""Which texts on the wire are those that are held."""

from __future__ import annotations

import pytest

from turnproof.dialects.text_equality import same_but_for_borders


def test_the_end_of_a_text_is_free_only_where_it_is_said_to_be() -> None:
    assert same_but_for_borders(["Bed 2 is "], "Bed 2 is", free_end=True)
    assert not same_but_for_borders(["Bed 2 is "], "Bed 2 is")


@pytest.mark.parametrize("sent", ["Bed 2  is", "Bed 2is", " Bed 2 is", "Bed 2 i"])
def test_white_space_elsewhere_and_letters_stay(sent: str) -> None:
    assert not same_but_for_borders(["Bed 2 is "], sent, free_end=True)
