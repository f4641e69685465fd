"""Where the API takes text alone in a result, what a tool shows stands behind it: in one message or in several."""

from __future__ import annotations

from typing import Any

from turnproof.judge.verdict import Status
from turnproof.messages import FileRef, InlineData, Message, Thought, ToolResult
from turnproof_suites.checks_handoff import _without_attachments
from turnproof_suites.checks_history_wire import _after_last_user_message
from turnproof_suites.checks_multimodal import _beside_results, _take_out

from .build import RunBuilder, changed_request, scripted
from .cases import status
from .conversations import PNG, READ, read, result

ONE, TWO, OTHER = (InlineData("image/png", data) for data in (b"1", b"2", b"3"))
RESULTS = Message.tool(ToolResult("a", "photograph"), ToolResult("b", "photograph"))


def test_what_stands_behind_results_counts_until_the_model_speaks_again() -> None:
    sent = [Message.user(OTHER), Message.model("so"), RESULTS, Message.user("of a:", ONE), Message.user("of b:", TWO)]
    assert _beside_results(sent) == [ONE, TWO]
    assert _beside_results([*sent, Message.model("thanks"), Message.user(OTHER)]) == [ONE, TWO]


def test_what_stands_in_front_of_results_or_without_any_does_not_count() -> None:
    assert _beside_results([Message.user(ONE), Message.model("so"), Message.user(TWO)]) == []
    assert _beside_results([Message.user(ONE), RESULTS]) == []


def test_a_picture_that_is_shown_once_is_that_of_one_result() -> None:
    shown: list[InlineData | FileRef] = [ONE, TWO]
    assert [_take_out(part, shown) for part in (ONE, ONE, TWO)] == [True, False, True]
    assert shown == []


def test_a_message_that_only_shows_what_a_result_attached_says_nothing_of_its_own() -> None:
    history = [Message.user("Look."), Message.tool(ToolResult("a", "photograph", "ok", attachments=(ONE, TWO)))]
    shown = Message.user("Attached:", ONE, TWO)
    for message, left in ((shown, 0), (Message.user("Attached:", OTHER), 1), (Message.user("x" * 65, ONE), 1)):
        assert len(_without_attachments([message], history)) == left
    assert _without_attachments([Message.user("Look.")], history)
    assert _without_attachments([shown], [])


def test_pictures_behind_results_are_not_taken_for_what_the_user_asks() -> None:
    asks = Message.user("Show me bed 3.")
    sent = [asks, Message.model("so"), RESULTS, Message.user("of a:", ONE), Message.user("of b:", TWO)]
    assert _after_last_user_message(sent, asks.parts) == [sent[1], RESULTS]
    assert _after_last_user_message([*sent, asks], asks.parts) == [], "said again behind results that were left"
    assert _after_last_user_message([*sent, Message.model("thanks"), Message.user(TWO)], (TWO,)) == []
    assert _after_last_user_message([RESULTS], asks.parts) == [RESULTS]


def test_what_results_have_attached_may_stand_behind_them_and_the_thinking_of_the_loop_still_goes_back() -> None:
    signed = "thinking/signed-thinking-goes-back-in-a-tool-loop"

    def move_picture(body: Any) -> None:
        (content,) = (block["content"] for block in body["messages"][2]["content"])
        label = {"type": "text", "text": "The picture of the call is shown here:"}
        body["messages"].append({"role": "user", "content": [label, content.pop()]})

    def drop_thought(body: Any) -> None:
        body["messages"][1]["content"].pop(0)

    turn = scripted([Thought("I must look."), read()], ["Moist."])
    run = RunBuilder(turn, tools=(READ,), options={"thinking": {"budget_tokens": 1024}}).turn("How is bed 3?")
    view = run.call(Thought("I must look."), read()).results(result(attachments=(PNG,))).call("Moist.").end().view()
    sent = changed_request(move_picture, 1)(view)
    assert status(signed, sent) is Status.HELD
    assert status(signed, changed_request(drop_thought, 1)(sent)) is Status.VIOLATED
