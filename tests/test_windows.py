"""The claim of a window is read as it is written, and nothing else is one."""

from __future__ import annotations

import pytest

from turnproof.errors import UsageError
from turnproof.messages import FunctionCall, Message, ToolResult
from turnproof.provider import Capabilities
from turnproof.session.binding import REFERENCE, windowed
from turnproof.session.session import Session
from turnproof.session.window import last_messages, last_turns
from turnproof.windows import Window
from turnproof_adapters.anthropic.binding import BINDING

CALL = Message.model(FunctionCall("call_1", "read_sensor", {}))
RESULT = Message.tool(ToolResult("call_1", "read_sensor", "41 %"))
HISTORY = [
    Message.user("How is bed 1?"),
    Message.model("Dry."),
    Message.user("And bed 2?"),
    CALL,
    RESULT,
    Message.model("41 %."),
]


@pytest.mark.parametrize("text", ["6 messages", "1 message", "3 turns", "1 turn", "6 items", "1 item"])
def test_a_claim_is_read_as_it_is_written(text: str) -> None:
    assert str(Window.of_claim(text)) == text
    assert Capabilities(window=text).claims("window")


def test_without_a_window_nothing_is_claimed() -> None:
    assert Window.of_claim("none") is None
    assert not Capabilities().claims("window")


@pytest.mark.parametrize("text", ["", "6", "0 turns", "-1 messages", "six messages", "6 tokens", "turns"])
def test_what_is_no_window_is_refused_where_it_is_claimed(text: str) -> None:
    with pytest.raises(UsageError, match="is no window: say how many, as '6 messages', '6 items' or '3 turns'"):
        Capabilities(window=text)


@pytest.mark.parametrize(("count", "begin"), [(1, 2), (2, 0), (9, 0)])
def test_the_last_turns_begin_with_what_the_user_says(count: int, begin: int) -> None:
    assert last_turns(count)(HISTORY) == begin


@pytest.mark.parametrize(("count", "begin"), [(1, 6), (3, 6), (4, 2), (5, 2), (6, 0), (9, 0)])
def test_the_last_messages_begin_where_a_turn_does(count: int, begin: int) -> None:
    assert last_messages(count)(HISTORY) == begin


@pytest.mark.parametrize("window", [last_turns, last_messages])
def test_a_window_has_at_least_one(window: type) -> None:
    with pytest.raises(UsageError, match="at least one"):
        window(0)


def test_a_provider_that_holds_the_history_sends_it_all() -> None:
    with pytest.raises(UsageError, match="a window is for the stateless path"):
        Session(object(), path="legacy", window=last_turns(1))  # type: ignore[arg-type]


def test_the_reference_session_claims_the_window_that_it_has() -> None:
    bound = windowed("2 turns", BINDING.claims())
    assert bound.capabilities is not None
    assert (bound.capabilities.window, bound.paths) == ("2 turns", ("stateless",))
    assert bound.operations < REFERENCE.operations
    for claim in ("none", "6 items"):
        with pytest.raises(UsageError, match=f"windows such as '4 messages' or '2 turns', got '{claim}'"):
            windowed(claim, BINDING.claims())
