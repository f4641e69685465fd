"""Repair of histories whose calls and results do not fit: table of known accidents, and a property over all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.messages import FunctionCall, Message, Part, Text, ToolResult, same_history
from turnproof.session import is_paired, repair
from turnproof.session.pairing import UNANSWERED

from .fakes import numbered


def ask(*ids: str) -> Message:
    return Message.model(*(FunctionCall(id, "look") for id in ids))


def give(*ids: str) -> Message:
    return Message.tool(*(ToolResult(id, "look", f"result of {id}") for id in ids))


def missing(id: str) -> ToolResult:
    return ToolResult(id, "look", UNANSWERED, is_error=True)


def found(id: str) -> ToolResult:
    return ToolResult(id, "look", f"result of {id}")


HI, BYE = Message.user("hi"), Message.model("bye")


@dataclass(frozen=True)
class Accident:
    id: str
    history: Sequence[Message]
    repaired: Sequence[Message]


ACCIDENTS = [
    Accident("call-at-the-end", [HI, ask("a")], [HI, ask("a"), Message.tool(missing("a"))]),
    Accident("call-then-user-text", [HI, ask("a"), HI, BYE], [HI, ask("a"), Message.tool(missing("a")), HI, BYE]),
    Accident(
        "half-answered",
        [HI, ask("a", "b"), give("a"), HI],
        [HI, ask("a", "b"), Message.tool(found("a"), missing("b")), HI],
    ),
    Accident("orphan-result", [HI, give("z"), BYE], [HI, BYE]),
    Accident("orphan-beside-a-good-one", [HI, ask("a"), give("a", "z"), BYE], [HI, ask("a"), give("a"), BYE]),
    Accident("answered-twice", [HI, ask("a"), give("a"), give("a"), BYE], [HI, ask("a"), give("a"), BYE]),
    Accident("one-message-per-result", [HI, ask("a", "b"), give("a"), give("b")], [HI, ask("a", "b"), give("a", "b")]),
    Accident("wrong-order", [HI, ask("a", "b"), give("b", "a")], [HI, ask("a", "b"), give("a", "b")]),
    Accident("user-text-in-between", [HI, ask("a"), HI, give("a"), BYE], [HI, ask("a"), give("a"), HI, BYE]),
    Accident("result-before-its-call", [HI, give("a"), ask("a")], [HI, ask("a"), give("a")]),
    Accident(
        "second-result-before-the-id-is-used-again",
        [HI, ask("a"), give("a"), give("a"), HI, ask("a")],
        [HI, ask("a"), give("a"), HI, ask("a"), Message.tool(missing("a"))],
    ),
    Accident(
        "results-of-two-messages-in-one",
        [HI, ask("a"), ask("b"), give("a", "b")],
        [HI, ask("a"), give("a"), ask("b"), give("b")],
    ),
    Accident(
        "id-used-again",
        [HI, ask("a"), HI, ask("a"), give("a")],
        [HI, ask("a"), Message.tool(missing("a")), HI, ask("a"), give("a")],
    ),
    Accident(
        "same-id-twice-in-one-message",
        [HI, ask("a", "a"), give("a")],
        [HI, ask("a", "a"), Message.tool(found("a"), missing("a"))],
    ),
    Accident(
        "result-in-a-user-message",
        [HI, ask("a"), Message.user(found("a"), "and now?")],
        [HI, ask("a"), give("a"), Message.user("and now?")],
    ),
    Accident(
        "text-in-a-tool-message",
        [HI, ask("a"), Message("tool", (found("a"), Text("and now?")))],
        [HI, ask("a"), give("a"), Message.user("and now?")],
    ),
]


@pytest.mark.parametrize("accident", ACCIDENTS, ids=attrgetter("id"))
def test_an_accident_is_repaired(accident: Accident) -> None:
    assert not is_paired(accident.history)
    repaired = repair(accident.history, numbered())
    assert same_history(repaired, accident.repaired, ids=False)
    assert is_paired(repaired)


def test_a_sound_history_is_left_as_it_is() -> None:
    history = [HI, ask("a", "b"), give("a", "b"), BYE, HI, ask("a"), give("a")]
    assert is_paired(history)
    assert all(x is y for x, y in zip(repair(history), history, strict=True))


def test_a_changed_tool_message_keeps_its_id_and_the_untouched_ones_their_identity() -> None:
    half = give("a")
    repaired = repair([HI, ask("a", "b"), half, BYE], numbered())
    assert repaired[2].message_id == half.message_id
    assert repaired[0] is HI
    assert repaired[3] is BYE


messages = st.lists(
    st.one_of(
        st.just("user"),
        st.just("model"),
        st.tuples(st.just("ask"), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)),
        st.tuples(st.just("give"), st.lists(st.sampled_from("abcz"), min_size=1, max_size=3)),
        st.tuples(st.just("mixed"), st.lists(st.sampled_from("abz"), min_size=1, max_size=2)),
    ),
    max_size=10,
)


def build(kinds: list[object]) -> list[Message]:
    messages: list[Message] = []
    for number, kind in enumerate(kinds):
        match kind:
            case "user":
                messages.append(Message.user(f"text {number}"))
            case "model":
                messages.append(Message.model(f"text {number}"))
            case ("ask", list(ids)):
                messages.append(ask(*ids))
            case ("give", list(ids)):
                messages.append(give(*ids))
            case ("mixed", list(ids)):
                messages.append(Message.user(*(found(id) for id in ids), f"text {number}"))
    return messages


@given(messages)
def test_whatever_comes_in_what_comes_out_is_paired_and_loses_no_text_and_no_call(kinds: list[object]) -> None:
    history = build(kinds)
    before = list(history)
    repaired = repair(history, numbered())

    def others(messages: Sequence[Message]) -> list[Part]:
        return [part for message in messages for part in message.parts if not isinstance(part, ToolResult)]

    assert is_paired(repaired)
    assert others(repaired) == others(history)
    assert len({message.message_id for message in repaired}) == len(repaired)
    assert all(x is y for x, y in zip(history, before, strict=True))
    again = repair(repaired)
    assert all(x is y for x, y in zip(again, repaired, strict=True))


def test_a_result_that_is_left_out_is_told_of_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    repair([HI, Message("tool", (found("a"), found("b")), "m7"), BYE], numbered())
    assert [record.getMessage() for record in caplog.records] == [
        "results left out, for they answer no call: 2, the first for 'a' in message 'm7'"
    ]


def test_nothing_is_told_of_a_history_whose_results_all_have_calls(caplog: pytest.LogCaptureFixture) -> None:
    repair([HI, give("a"), ask("a"), HI, ask("b"), BYE], numbered())
    assert caplog.records == []
