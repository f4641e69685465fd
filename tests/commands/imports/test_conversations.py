"""Exchanges become conversations, conversations become scenarios, and what a scenario cannot say is told."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.commands.imports.apis import Reader, ReadExchange
from turnproof.commands.imports.client import remarks
from turnproof.commands.imports.conversations import Conversation, conversations
from turnproof.commands.imports.documents import Draft, NotAScenario, scenario_of
from turnproof.commands.imports.exchanges import RecordedExchange
from turnproof.scenarios import Scenario, from_data

from .kit import CONVERSATION, answer, assistant, calls, exchange, result, user

LIMIT = {"error": {"message": "Rate limit reached", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}


def read(*exchanges: RecordedExchange) -> list[ReadExchange]:
    reader = Reader()
    found = [reader.read(one) for one in exchanges]
    assert None not in found
    return [one for one in found if one is not None]


def only(*exchanges: RecordedExchange) -> Conversation:
    [conversation] = conversations(read(*exchanges))
    return conversation


def draft(*exchanges: RecordedExchange) -> Draft:
    return scenario_of(only(*exchanges), "Recorded")


def scenario(*exchanges: RecordedExchange) -> Scenario:
    return from_data(draft(*exchanges).data, "imported/traffic")


def test_each_request_that_holds_the_answer_before_goes_on_with_the_conversation() -> None:
    found = scenario(*CONVERSATION)

    assert [len(turn.rounds) for turn in found.turns] == [2, 1]
    assert found.turns[0].results["read_sensor"].for_args({"bed": "3"}).result == "41 %"
    bodies = [answer.recorded.body.encode() for turn in found.turns for answer in turn.rounds if answer.recorded]
    assert bodies == [one.response_body for one in CONVERSATION]
    assert found.origin is not None
    assert (str(found.origin), found.origin.dialect, found.origin.model) == (
        "api.openai.com, 2026-11-02",
        "openai-chat",
        "gpt-4.1",
    )


def test_two_clients_in_one_file_are_two_conversations() -> None:
    other = exchange([user("And the weather?")], answer(assistant("Sunny.")))

    assert len(conversations(read(CONVERSATION[0], other, *CONVERSATION[1:]))) == 2


def test_only_the_headers_that_decide_something_are_kept() -> None:
    found = scenario(*CONVERSATION)

    assert {name for turn in found.turns for one in turn.rounds if one.recorded for name in one.recorded.headers} == {
        "content-type"
    }


def test_a_failure_that_was_tried_again_is_no_step() -> None:
    failed = exchange([user("How moist is bed 3?")], LIMIT, 429)

    assert len(only(failed, *CONVERSATION).steps) == 3


def test_a_failure_at_the_end_is_the_end() -> None:
    failed = exchange([user("Hello?")], LIMIT, 429)
    found = scenario(failed)

    assert found.turns[0].expect == "error"
    recorded = found.turns[0].rounds[0].recorded
    assert recorded is not None
    assert recorded.status == 429


def test_what_was_said_before_the_recording_is_scripted_without_bytes() -> None:
    found = draft(CONVERSATION[2])

    rounds = [one for turn in from_data(found.data, "imported/traffic").turns for one in turn.rounds]
    assert [one.recorded is not None for one in rounds] == [False, False, True]
    assert found.recorded == 1


def test_a_tool_that_is_called_twice_answers_by_its_arguments() -> None:
    question = [user("Beds 3 and 4?")]
    both = [*question, calls("3", "4"), result("4", "dry"), result("3", "41 %")]
    found = scenario(exchange(question, answer(calls("3", "4"))), exchange(both, answer(assistant("One is dry."))))

    script = found.turns[0].results["read_sensor"]
    assert [script.for_args({"bed": bed}).result for bed in "34"] == ["41 %", "dry"]


def test_a_recording_that_ends_with_a_call_gets_an_end() -> None:
    found = draft(CONVERSATION[0])

    assert "the recording ends with a call: its result and the closing words are not recorded" in found.notes
    assert [one.recorded is not None for one in from_data(found.data, "imported/x").turns[0].rounds] == [True, False]


def test_pictures_are_replaced_and_that_is_told() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    message = {"role": "user", "content": [{"type": "text", "text": "What?"}, image]}
    found = draft(exchange([message], answer(assistant("A."))))

    assert found.notes == ["pictures are replaced by a sample"]
    assert found.data["turns"][0]["user"] == ["What?", {"image": "png"}]


def test_an_answer_of_several_that_were_asked_for_at_once_is_no_recorded_one() -> None:
    found = draft(exchange([user("Three words?")], answer(assistant("One.")), n=3))

    assert found.recorded == 0
    assert any("several answers were asked for at once" in note for note in found.notes)


def test_the_model_that_was_asked_and_the_mode_are_kept() -> None:
    found = scenario(*CONVERSATION)

    assert found.modes == ("batch",)


UNTOLD: list[tuple[str, list[dict[str, Any]], str]] = [
    ("model-first", [assistant("Hello.")], "the model speaks first"),
    ("nobody", [], "the model speaks first"),
    ("result-without-call", [user("a"), result("3", "b")], "a result has no call in front of it"),
    ("user-between", [user("a"), calls("3"), result("3", "b"), user("c")], "the user speaks between the results"),
]


@pytest.mark.parametrize(("messages", "reason"), [case[1:] for case in UNTOLD], ids=[case[0] for case in UNTOLD])
def test_what_no_scenario_can_tell_is_left_out_with_the_reason(messages: list[Any], reason: str) -> None:
    failed = exchange(messages, answer(assistant("Fine.")))

    with pytest.raises(NotAScenario, match=reason):
        draft(failed)


def test_what_the_client_changed_in_an_answer_is_told() -> None:
    cut = [*[user("How moist is bed 3?"), calls("3"), result("3", "41 %"), assistant("At"), user("Thanks!")]]
    changed = only(*CONVERSATION[:2], exchange(cut, answer(assistant("You are welcome."))))

    assert list(remarks(changed)) == [
        "request 3: the client sent back something else than it was answered: lost-text at $.messages[3].parts[0]"
    ]


def test_a_client_that_sends_back_what_it_got_is_told_nothing() -> None:
    assert list(remarks(only(*CONVERSATION))) == []


def test_a_refused_request_is_told_with_the_rule_that_it_offends() -> None:
    orphan = [user("How moist is bed 3?"), calls("3"), user("Never mind.")]
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    )
    refusal = {"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": None}}
    lines = list(remarks(only(CONVERSATION[0], exchange(orphan, refusal, 400))))

    assert lines[0].startswith("request 2 was refused: 400 An assistant message with 'tool_calls'")
    assert lines[1].startswith("  by the rule openai-chat/")


def test_an_unknown_address_is_no_exchange_with_a_model() -> None:
    reader = Reader()
    page = RecordedExchange("x", "GET", "https://example.com/", {}, b"", 200, {}, b"")

    assert reader.read(page) is None
