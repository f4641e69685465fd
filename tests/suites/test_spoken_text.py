"""Which texts of a response are those of the answer: blanks between its texts are free, and nothing within them is."""

from __future__ import annotations

import pytest

from turnproof.messages import Text
from turnproof_suites.content import spoken_as, spoken_text

SENT = (Text("Bed 3 is dry,"), Text("bed 4 is wet."))


@pytest.mark.parametrize(
    "returned",
    [
        ("Bed 3 is dry,", "bed 4 is wet."),
        ("Bed 3 is dry,bed 4 is wet.",),
        ("Bed 3 is dry, bed 4 is wet.",),
        ("Bed 3 is dry,\n\nbed 4 is wet.",),
    ],
)
def test_texts_of_an_answer_may_be_joined_with_other_white_space(returned: tuple[str, ...]) -> None:
    assert spoken_as(map(Text, returned), SENT) == spoken_text(SENT)


@pytest.mark.parametrize(
    "returned",
    ["Bed 3 is  dry, bed 4 is wet.", "Bed 3is dry, bed 4 is wet.", "bed 4 is wet. Bed 3 is dry,", "Bed 3 is dry,"],
)
def test_white_space_within_a_text_and_the_order_of_texts_stay(returned: str) -> None:
    assert spoken_as([Text(returned)], SENT) != spoken_text(SENT)


def test_a_single_text_stays_as_it_is() -> None:
    sent = (Text(" Bed 3 is dry."),)
    assert spoken_as([Text("Bed 3 is dry.")], sent) != spoken_text(sent)


def test_a_blank_text_beside_another_may_be_left_out() -> None:
    sent = (Text("\n\n"), Text("Bed 3 is dry."))
    assert spoken_as([Text("Bed 3 is dry.")], sent) == spoken_as([Text("\n\nBed 3 is dry.")], sent) == spoken_text(sent)


def test_the_ends_of_an_answer_of_several_texts_stay() -> None:
    sent = (Text(" Bed 3 is dry,"), Text("bed 4 is wet.\n"))
    assert spoken_as([Text("Bed 3 is dry, bed 4 is wet.")], sent) != spoken_text(sent)
