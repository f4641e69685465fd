"""Pieces of a text whose characters a gateway cut in half."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof_adapters._characters import Joiner, is_whole, whole_characters


@pytest.mark.parametrize(
    ("pieces", "shown", "rest"),
    [
        (["plain ", "text"], ["plain ", "text"], ""),
        (["it\u2019s ", "\U0001f600"], ["it\u2019s ", "\U0001f600"], ""),
        (["a\ud83d", "\ude00b"], ["a", "\U0001f600b"], ""),
        # The first and the last pair that there are.
        (["\ud800", "\udc00"], ["", "\U00010000"], ""),
        (["\udbff", "\udfff"], ["", "\U0010ffff"], ""),
        (["\ud83d", "", "\ude00"], ["", "", "\U0001f600"], ""),
        (["\ud83d", "a", "b"], ["", "\ufffda", "b"], ""),
        (["\ud83d", "\ud83d", "\ude00"], ["", "\ufffd", "\U0001f600"], ""),
        (["\ude00a"], ["\ufffda"], ""),
        (["a\ud83d"], ["a"], "\ufffd"),
    ],
)
def test_halves_that_belong_together_are_joined_across_pieces(pieces: list[str], shown: list[str], rest: str) -> None:
    joiner = Joiner()
    assert [joiner.feed(piece) for piece in pieces] == shown
    assert joiner.rest() == rest
    assert joiner.rest() == "", "what was told is told once"


@given(st.lists(st.text(st.characters(codec=None), max_size=6), max_size=6))
def test_what_is_shown_in_pieces_is_what_the_whole_text_shows(pieces: list[str]) -> None:
    joiner = Joiner()
    shown = "".join([*map(joiner.feed, pieces), joiner.rest()])
    assert shown == whole_characters("".join(pieces))
    assert is_whole(shown)


@pytest.mark.parametrize("half", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_a_half_alone_is_no_whole_character_and_becomes_a_visible_one(half: int) -> None:
    assert not is_whole(f"a{chr(half)}b")
    assert whole_characters(f"a{chr(half)}b") == "a\ufffdb"


@pytest.mark.parametrize("text", ["", "a", "\x7f\u2019\ud7ff\ue000\U0010ffff"])
def test_whole_characters_stay_as_they_are(text: str) -> None:
    assert is_whole(text)
    assert whole_characters(text) == text
