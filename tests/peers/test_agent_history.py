"""Histories of agents as the contract has them, and back to a turn."""

from __future__ import annotations

import pytest

from turnproof.messages import Message, Text, ToolResult, freeze
from turnproof.subject import ToolOutput
from turnproof_adapters.peers.agent_history import joined_results, up_to_turn
from turnproof_adapters.peers.result_texts import output_text, result_text

ONE, TWO = ToolResult("c1", "read_sensor", "41 %"), ToolResult("c2", "read_sensor", "12 %")
QUESTION, DONE = Message.user("How moist?"), Message.model(Text("Moist."))


def test_results_that_follow_each_other_are_one_message() -> None:
    joined = [(one.role, one.parts) for one in joined_results([QUESTION, ONE, TWO, DONE, ONE])]
    assert joined == [("user", QUESTION.parts), ("tool", (ONE, TWO)), ("model", DONE.parts), ("tool", (ONE,))]


def test_a_history_is_cut_behind_a_turn() -> None:
    history = ["user 1", "answer", "tool", "user 2", "answer"]
    cut = [list(up_to_turn(history, turn, lambda one: one.startswith("user"))) for turn in (0, 1)]
    assert cut == [history[:3], history]
    with pytest.raises(IndexError, match="no turn 2"):
        up_to_turn(history, 2, lambda one: one.startswith("user"))


def test_a_text_stays_as_it_is_and_other_values_are_json() -> None:
    assert [result_text(value) for value in ("41 %", 41, None, freeze({"bed": ["größer"]}))] == [
        "41 %",
        "41",
        "null",
        '{"bed": ["größer"]}',
    ]
    assert output_text("done") == ("done", False)
    assert output_text(ToolOutput({"bed": 3}, is_error=True)) == ('{"bed": 3}', True)
