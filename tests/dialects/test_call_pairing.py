"""One relation of ids: which call is which, and whose result a result is."""

from __future__ import annotations

from turnproof.dialects.call_pairing import pair_calls, with_held_ids
from turnproof.messages import FunctionCall, Message, ToolResult


def call(id: str, bed: int, name: str = "read") -> FunctionCall:
    return FunctionCall(id=id, name=name, args={"bed": bed})


def ids(ours: list[FunctionCall], theirs: list[FunctionCall], **issued: str) -> list[tuple[str, str]]:
    return [(a.id, b.id) for a, b in pair_calls(ours, theirs, issued)]


def test_equal_ids_go_first_also_where_the_rest_speaks_against_it() -> None:
    assert ids([call("a", 1), call("b", 2)], [call("a", 2), call("b", 1)]) == [("a", "a"), ("b", "b")]


def test_an_id_that_comes_again_means_the_call_with_the_same_arguments() -> None:
    pairs = pair_calls([call("a", 1), call("a", 2)], [call("a", 2)])
    assert [(ours.args["bed"], theirs.args["bed"]) for ours, theirs in pairs] == [(2, 2)]


def test_an_issued_id_decides_between_calls_that_are_alike() -> None:
    ours, theirs = [call("own1", 1), call("own2", 1)], [call("y", 1), call("x", 1)]
    assert ids(ours, theirs, own1="x", own2="y") == [("own1", "x"), ("own2", "y")]


def test_calls_with_other_ids_are_known_by_tool_and_arguments_then_by_their_order() -> None:
    ours = [call("own1", 1), call("own2", 2), call("own3", 3)]
    assert ids(ours, [call("x", 3), call("y", 2)]) == [("own2", "y"), ("own3", "x")]
    assert ids(ours[:2], [call("x", 8), call("y", 9)]) == [("own1", "x"), ("own2", "y")]
    assert ids(ours, [call("x", 8)]) == []


HISTORY = [Message.model(call("own1", 1), call("own2", 2)), Message.tool(ToolResult("own1", "read", 1))]


def sent_ids(*messages: Message) -> list[str]:
    found = with_held_ids(messages, HISTORY)
    return [getattr(part, "call_id", getattr(part, "id", "")) for message in found for part in message.parts]


def test_results_belong_to_the_call_that_has_their_id_on_the_wire() -> None:
    calls = Message.model(call("x", 1), call("y", 2))
    assert sent_ids(calls, Message.tool(ToolResult("x", "read", 1))) == ["own1", "own2", "own1"]
    assert sent_ids(calls, Message.tool(ToolResult("y", "read", 1))) == ["own1", "own2", "own2"]
    assert sent_ids(calls, Message.tool(ToolResult("z", "read", 1))) == ["own1", "own2", "z"]


def test_a_call_is_not_renamed_to_an_id_that_a_result_has_on_the_wire() -> None:
    assert sent_ids(Message.model(call("x", 1)), Message.tool(ToolResult("own1", "read", 1))) == ["x", "own1"]


def test_an_id_that_comes_again_in_a_later_turn_means_the_nearest_call_before() -> None:
    turns = [
        Message.model(call("call_0", 1)),
        Message.tool(ToolResult("call_0", "read", 1)),
        Message.model(call("call_0", 2)),
        Message.tool(ToolResult("call_0", "read", 2)),
    ]
    assert sent_ids(*turns) == ["own1", "own1", "own2", "own2"]
