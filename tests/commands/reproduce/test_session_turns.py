"""The turns of a scenario in a file: what is said, what tools return, and which runs do more than that."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from turnproof.commands.reproduce.recorded_answers import RecordedAnswer, held_answer
from turnproof.commands.reproduce.run_findings import UnreproducibleError
from turnproof.commands.reproduce.session_turns import FileTurn, file_turns, is_failing
from turnproof.messages import FileRef, Text
from turnproof.run.transcript import WireResponse
from turnproof.scenarios.model import Cut, Scenario, ToolCase, ToolScript, Turn

READ = ToolScript(result={"moisture": 41}, cases=(ToolCase({"bed": 9}, ToolScript(error="no such bed")),))


def scenario(*turns: Turn, **fields: object) -> Scenario:
    return replace(Scenario("s", "a scenario", turns), **fields)


def turn_of(text: str = "Hello", **fields: object) -> Turn:
    return replace(Turn((Text(text),), ()), **fields)


def test_a_turn_has_its_text_and_what_each_tool_returns_for_which_arguments() -> None:
    (turn,) = file_turns(scenario(turn_of(results={"read": READ})), 0, 0)
    (name, when, error), rest = turn.results
    assert (turn.text, name, when, str(error)) == ("Hello", "read", {"bed": 9}, "no such bed")
    assert rest == ("read", {}, {"moisture": 41})
    assert is_failing([turn])


@pytest.mark.parametrize(
    ("cut", "cancelled"),
    [
        (Cut("event", after="text:2"), None),
        (Cut("batch"), None),
        (Cut("event", on_piece=2), 2),
        (Cut("tool", index=1), ("tool", 2)),
    ],
)
def test_a_turn_is_cancelled_where_the_run_was(cut: Cut, cancelled: object) -> None:
    assert file_turns(scenario(turn_of(cancel=cut)), 0, 0) == [FileTurn("Hello", (), cancelled)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (turn_of(before=("reset",)), "does more than speak .reset"),
        (turn_of(child=turn_of()), "does more than speak .spawn"),
        (turn_of(response_schema={"type": "object"}), "structured output"),
        (turn_of(cancel=Cut("backoff")), "moment that no file has"),
        (turn_of(results={"read": ToolScript(attachments=(FileRef("image/png", "x"),))}), "more than a value"),
        (replace(turn_of(), user=(Text("a"), Text("b"))), "more than a text"),
    ],
)
def test_a_turn_that_does_more_is_refused_with_the_reason(turn: Turn, reason: str) -> None:
    with pytest.raises(UnreproducibleError, match=reason):
        file_turns(scenario(turn), 0, 0)


def test_tools_that_a_later_turn_changes_are_those_of_a_file_that_begins_with_it() -> None:
    changed = scenario(turn_of(), turn_of(system="Be brief."))
    assert len(file_turns(changed, 1, 1)) == 1
    with pytest.raises(UnreproducibleError, match="configure"):
        file_turns(changed, 0, 1)


def test_an_answer_is_held_behind_what_was_written_before_the_cancel() -> None:
    answer = RecordedAnswer(200, {}, (b"a", b"b", b"c"), "end")
    response = WireResponse(
        exchange=0, status=200, headers={}, body="abc", written=3, ended="completed", held=True, events_after_cancel=2
    )
    assert held_answer(answer, response).pieces == (b"a", None, b"b", b"c")
    whole = held_answer(answer, replace(response, events_after_cancel=3))
    assert whole.pieces == (None, b"a", b"b", b"c")
    assert whole.is_held
