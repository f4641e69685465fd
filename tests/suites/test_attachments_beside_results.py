"""Where the API takes text alone in a result, what a tool shows stands behind it: in one message or in several."""

from __future__ import annotations

from turnproof.messages import InlineData, Message, ToolResult
from turnproof_suites.checks_multimodal import _beside_results

ONE, TWO, OTHER = (InlineData("image/png", data) for data in (b"1", b"2", b"3"))
RESULTS = Message.tool(ToolResult("a", "photograph"), ToolResult("b", "photograph"))


def test_what_stands_behind_results_counts_until_the_model_speaks_again() -> None:
    sent = [Message.user(OTHER), Message.model("so"), RESULTS, Message.user("of a:", ONE), Message.user("of b:", TWO)]
    assert _beside_results(sent) == [ONE, TWO]
    assert _beside_results([*sent, Message.model("thanks"), Message.user(OTHER)]) == [ONE, TWO]


def test_what_stands_in_front_of_results_or_without_any_does_not_count() -> None:
    assert _beside_results([Message.user(ONE), Message.model("so"), Message.user(TWO)]) == []
    assert _beside_results([Message.user(ONE), RESULTS]) == []
