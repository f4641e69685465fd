"""Where messages stand: every call answered right behind it, nothing answered that was not asked."""

from __future__ import annotations

import pytest

from turnproof.messages import FileRef, InlineData, Message
from turnproof_adapters.openai.names import ID_LIMIT, wire_id

from .histories import arbitrary, ordinary_conversation
from .kit import Json, answered, arranged, call, request_call, result

HI = Message.user("hi")
HI_WIRE = {"role": "user", "content": "hi"}
UNANSWERED = "Error: no result, the call was not carried out."
PNG = InlineData("image/png", b"\x89")


def assistant(content: str | None = None, *calls: Json) -> Json:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}


def two() -> Message:
    return Message.model(call("a"), call("b"))


TWO = assistant(None, request_call("a"), request_call("b"))

CASES: dict[str, tuple[list[Message], list[Json]]] = {
    "an-ordinary-round": (
        [HI, Message.model("look", call("a")), Message.tool(result("a")), Message.model("done")],
        [HI_WIRE, assistant("look", request_call("a")), answered("a"), assistant("done")],
    ),
    "results-in-call-order": (
        [two(), Message.tool(result("b", 2), result("a", 1))],
        [TWO, answered("a", "1"), answered("b", "2")],
    ),
    "results-in-two-messages": (
        [two(), Message.tool(result("b", 2)), Message.tool(result("a", 1))],
        [TWO, answered("a", "1"), answered("b", "2")],
    ),
    "a-missing-result": (
        [two(), Message.tool(result("b", 2)), HI],
        [TWO, answered("a", UNANSWERED), answered("b", "2"), HI_WIRE],
    ),
    "a-call-that-ends-the-conversation": ([two()], [TWO, answered("a", UNANSWERED), answered("b", UNANSWERED)]),
    "a-result-without-a-call": ([HI, Message.tool(result("x")), HI], [HI_WIRE, HI_WIRE]),
    "a-result-too-many": (
        [Message.model(call("a")), Message.tool(result("a", 1), result("a", 2))],
        [assistant(None, request_call("a")), answered("a", "1")],
    ),
    "a-result-that-comes-too-late": (
        [Message.model(call("a")), HI, Message.model("so"), Message.tool(result("a"))],
        [assistant(None, request_call("a")), answered("a", UNANSWERED), HI_WIRE, assistant("so")],
    ),
    "the-user-before-the-results": (
        [Message.model(call("a")), HI, Message.tool(result("a"))],
        [assistant(None, request_call("a")), answered("a"), HI_WIRE],
    ),
    "an-instruction-between-call-and-result": (
        [Message.model(call("a")), Message.system("be brief"), Message.tool(result("a"))],
        [assistant(None, request_call("a")), answered("a"), {"role": "system", "content": "be brief"}],
    ),
    "results-in-the-models-message": (
        [Message("model", (call("a"), result("a"))), HI],
        [assistant(None, request_call("a")), answered("a"), HI_WIRE],
    ),
    "neighbours-of-the-model-stay-apart": (
        [Message.model("a", call("a")), Message.model("b", call("b")), Message.tool(result("b", 2), result("a", 1))],
        [assistant("a", request_call("a")), answered("a", "1"), assistant("b", request_call("b")), answered("b", "2")],
    ),
    "the-same-id-in-a-later-round": (
        [Message.model(call("a")), Message.tool(result("a", 1))] * 2,
        [assistant(None, request_call("a")), answered("a", "1")] * 2,
    ),
    "the-same-id-twice-in-one-round": (
        [Message.model(call("a"), call("a"), call("a_2")), Message.tool(result("a", 1), result("a", 2), result("a_2"))],
        [
            assistant(None, request_call("a"), request_call("a_2"), request_call("a_2_2")),
            answered("a", "1"),
            answered("a_2", "2"),
            answered("a_2_2"),
        ],
    ),
    "nothing-said": ([HI, Message.model(""), Message.model(), Message.user(), HI], [HI_WIRE, HI_WIRE]),
    "the-models-word-first": ([Message.model("hello"), HI], [assistant("hello"), HI_WIRE]),
    "an-orphan-between-words-of-the-model": (
        [Message.model("a"), Message.tool(result("x")), Message.model("b")],
        [assistant("a"), assistant("b")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_calls_and_results_stand_as_the_api_insists(case: str) -> None:
    history, sent = CASES[case]
    assert arranged(history) == sent


def test_what_results_show_stands_behind_all_of_them() -> None:
    image = FileRef("image/png", "https://x.invalid/a.png")
    history = [two(), Message.tool(result("a", 1, attachments=(PNG,)), result("b", 2, attachments=(image,))), HI]
    *results, first, second, last = arranged(history)
    assert results == [TWO, answered("a", "1"), answered("b", "2")]
    assert [block["type"] for block in first["content"]] == ["text", "image_url"]
    assert first["content"][0]["text"] == "Attached to the result of read:"
    assert second["content"][1]["image_url"]["url"] == image.uri
    assert last == HI_WIRE


def test_what_a_result_without_a_call_shows_is_left_out_with_it() -> None:
    assert arranged([HI, Message.tool(result("x", attachments=(PNG,)))]) == [HI_WIRE]


def test_an_id_that_is_too_long_becomes_a_legal_one_alike_in_call_and_result() -> None:
    long = "x" * (ID_LIMIT + 1)
    wire, answer = arranged([Message.model(call(long)), Message.tool(result(long))])
    sent = wire["tool_calls"][0]["id"]
    assert len(sent) == ID_LIMIT
    assert sent == answer["tool_call_id"] == wire_id(long)
    assert wire_id("y" * ID_LIMIT) == "y" * ID_LIMIT


def pairing_fault(sent: list[Json]) -> str | None:
    """What the API would refuse about calls and results."""
    waiting: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"an orphan {message}"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"no result for {waiting}"
        waiting = [each["id"] for each in message.get("tool_calls", ())]
        if len(set(waiting)) != len(waiting) or any(len(each) > ID_LIMIT or not each for each in waiting):
            return f"ids {waiting}"
    return f"no result for {waiting}" if waiting else None


@pytest.mark.parametrize("seed", range(60))
def test_any_conversation_at_all_becomes_a_legal_one(seed: int) -> None:
    assert pairing_fault(arranged([*arbitrary(seed), HI])) is None


def test_an_ordinary_conversation_is_sent_as_it_is() -> None:
    sent = arranged(ordinary_conversation(12))
    assert pairing_fault(sent) is None
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant"] * 3
