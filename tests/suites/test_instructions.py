"""Which instructions a request has, whatever blocks or messages of the system they are in."""

from __future__ import annotations

import pytest

from turnproof.dialects.base import Call
from turnproof.messages import Message, Part, Text
from turnproof_suites.content import instructs

TEXT = "You keep a greenhouse log."


def request(*system: str, between: str = "") -> Call:
    parts: tuple[Part, ...] = tuple(map(Text, system))
    return Call("generate", system=parts, messages=(Message("system", (Text(between),)),) if between else ())


@pytest.mark.parametrize(
    "call",
    [
        request(TEXT),
        request("You keep a greenhouse", " log."),
        request("Be short.", TEXT, "Write in English."),
        request("You keep a ", "greenhouse", " log."),
        request("Be short.", between=TEXT),
    ],
)
def test_a_text_in_one_block_or_several_is_there(call: Call) -> None:
    assert instructs(call, f"{TEXT}\n")


def test_lines_that_are_blocks_of_their_own_are_there() -> None:
    assert instructs(request("You keep a log.", "Be short."), "You keep a log.\nBe short.")
    assert instructs(request("You keep a log.", "Be short."), "You keep a log.\n\nBe short.")


@pytest.mark.parametrize(
    "call",
    [
        request(),
        request("You keep a greenhouse."),
        request(" log.", "You keep a greenhouse"),
        request("You keep a greenhouse", "log."),
        request("You keep a", "Be short.", " greenhouse log."),
    ],
)
def test_a_text_that_is_shorter_in_another_order_or_without_a_blank_is_not(call: Call) -> None:
    assert not instructs(call, TEXT)
