"""`given`: a conversation that was held elsewhere, as a scenario file says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnproof.errors import ScenarioError
from turnproof.messages import FunctionCall, Message, Thought, ToolResult
from turnproof.scenarios import Scenario, load

TOOLS = "tools: [{name: look, takes: {bed: string}}]\n"
TURNS = "turns: [{user: Hi, model: Hello}]\n"


def scenario(tmp_path: Path, entries: str, more: str = TOOLS + "results: {look: dry}\n") -> Scenario:
    file = tmp_path / "given.yaml"
    file.write_text(f"title: Given\n{more}given:\n{entries}\n{TURNS}")
    return load(file)


def shape(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def test_turns_become_messages_with_ids_of_their_own(tmp_path: Path) -> None:
    messages = scenario(tmp_path, "  - {user: One, model: First}\n  - {user: Two, model: Second}", "").given
    assert shape(messages) == [("user", "One"), ("model", "First"), ("user", "Two"), ("model", "Second")]
    assert [message.message_id for message in messages] == ["given-1", "given-2", "given-3", "given-4"]


def test_a_call_is_answered_behind_it_in_call_order(tmp_path: Path) -> None:
    messages = scenario(
        tmp_path,
        "  - user: Look\n    model: [[{call: look, args: {bed: a}}, {call: look, args: {bed: b}, id: own}], Dry.]",
    ).given
    assert [call.id for call in messages[1].calls] == ["given_1", "own"]
    assert [(result.call_id, result.result) for result in messages[2].results] == [("given_1", "dry"), ("own", "dry")]


def test_thoughts_and_calls_are_signed_by_a_model_that_no_run_has(tmp_path: Path) -> None:
    messages = scenario(
        tmp_path, "  - {user: Look, model: [[{thinking: Hm}, {call: look, args: {bed: a}}], Dry.]}"
    ).given
    signed = [part.provider_data for part in messages[1].parts if isinstance(part, Thought | FunctionCall)]
    assert [data.dialect if data else None for data in signed] == ["elsewhere", "elsewhere"]


def test_an_instruction_may_stand_between_turns(tmp_path: Path) -> None:
    messages = scenario(tmp_path, "  - {user: One, model: First}\n  - {system: Be brief.}", "").given
    assert shape(messages)[-1] == ("system", "Be brief.")


def test_the_last_call_may_be_left_unanswered(tmp_path: Path) -> None:
    messages = scenario(
        tmp_path,
        "  - {user: Look, unanswered: true, model: [[{call: look, args: {bed: a}}], [{call: look, args: {bed: b}}]]}",
    ).given
    assert [message.role for message in messages] == ["user", "model", "tool", "model"]


def test_a_failed_tool_and_a_turns_own_result_are_kept(tmp_path: Path) -> None:
    messages = scenario(
        tmp_path,
        "  - {user: Look, results: {look: {error: stuck}}, model: [[{call: look, args: {bed: a}}], Oh.]}",
        TOOLS,
    ).given
    assert messages[2].parts == (ToolResult("given_1", "look", "stuck", is_error=True),)


def test_it_needs_a_session_that_takes_over(tmp_path: Path) -> None:
    assert scenario(tmp_path, "  - {user: One, model: First}", "").operations == ("adopt",)


@pytest.mark.parametrize(
    ("entries", "path", "reason"),
    [
        ("  []", "$.given", "leave 'given' out"),
        ("  - {user: Hi}", "$.given[0]", "model"),
        ("  - {user: Hi, model: Ho, cancel: x}", "$.given[0]", "cancel"),
        ("  - {user: Hi, model: [[{call: look, args: {bed: a}}]]}", "$.given[0].model[0]", "no answer follows"),
        ("  - {user: Hi, model: [Ho, Hum]}", "$.given[0].model[0]", "nothing can follow"),
        ("  - {user: Hi, model: Ho, unanswered: true}", "$.given[0].unanswered", "calls no tool"),
        ("  - {user: Hi, model: [{parts: [Ho], finish: stop}]}", "$.given[0].model[0]", "is over"),
        (
            "  - user: Hi\n    model: [[{call: look, args: {}, id: x}], [{call: look, args: {}, id: x}], Ho]",
            "$.given",
            "two calls have the id 'x'",
        ),
    ],
)
def test_what_cannot_have_happened_is_refused_where_it_stands(
    tmp_path: Path, entries: str, path: str, reason: str
) -> None:
    with pytest.raises(ScenarioError, match=reason) as error:
        scenario(tmp_path, entries)
    assert error.value.path.startswith(path)


def test_a_result_that_nobody_wrote_down_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="has results for it"):
        scenario(tmp_path, "  - {user: Hi, model: [[{call: look, args: {bed: a}}], Ho]}", TOOLS)
