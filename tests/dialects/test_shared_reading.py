"""What dialects share of reading requests and answers, and of answering with an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from turnproof.dialects.base import Refusal, WireAnswer
from turnproof.dialects.base_dialect import UnreadableRequest, json_object, with_method
from turnproof.dialects.error_answers import bad_request, usual_error
from turnproof.dialects.finish_words import finish_word_of
from turnproof.dialects.gemini_interactions.rules import MALFORMED_JSON as RULE
from turnproof.dialects.item_messages import item_messages
from turnproof.dialects.lenient_reading import event_documents, not_json, read_batch_or_stream, read_safely
from turnproof.errors import HarnessError
from turnproof.messages import FinishReason, FunctionCall, Part, Role, Text, ToolResult

NOWHERE, WRONG = (Refusal(RULE, status, "no", "No.") for status in (404, 405))


class Address(NamedTuple):
    method: str
    name: str


def test_the_address_that_takes_the_method_is_found_and_else_it_is_said_what_is_wrong() -> None:
    both = [Address("GET", "read"), Address("POST", "make")]
    assert with_method(both, "post", nowhere=NOWHERE, wrong_method=WRONG).name == "make"
    for found, refusal in ((both, WRONG), ([], NOWHERE)):
        with pytest.raises(UnreadableRequest) as raised:
            with_method(found, "PUT", nowhere=NOWHERE, wrong_method=WRONG)
        assert raised.value.refusal is refusal


@pytest.mark.parametrize(
    ("body", "refusal"), [(b"{", NOWHERE), (b'"\xff"', NOWHERE), (b"[" * 5000, NOWHERE), (b"[]", WRONG), (b"1", WRONG)]
)
def test_a_body_that_is_no_json_object_is_refused(body: bytes, refusal: Refusal) -> None:
    assert json_object(b'{"a": 1}', no_json=NOWHERE, no_object=WRONG) == {"a": 1}
    with pytest.raises(UnreadableRequest) as raised:
        json_object(body, no_json=NOWHERE, no_object=WRONG)
    assert raised.value.refusal is refusal


def test_a_status_that_no_table_has_takes_the_error_of_its_class() -> None:
    kinds = {400: ("bad", "Bad."), 429: ("slow", "Slow."), 500: ("down", "Down.")}
    assert [usual_error(kinds, status)[0] for status in (429, 418, 400, 500, 529)] == [
        "slow", "bad", "bad", "down", "down",
    ]  # fmt: skip


def test_a_bad_request_names_its_place_in_the_body() -> None:
    assert [bad_request(RULE, "no", "No.", path).path for path in ("$", "$.a", "a.b")] == ["$", "$.a", "$.a.b"]


def test_an_end_that_an_api_has_no_word_for_is_said_with_what_to_do() -> None:
    words = {FinishReason.STOP: "stop"}
    assert finish_word_of(words, FinishReason.STOP, dialect="mine", member="reason") == "stop"
    with pytest.raises(HarnessError, match=r"^mine has no reason for .*; give raw_finish$"):
        finish_word_of(words, FinishReason.SAFETY, dialect="mine", member="reason")


def too_deep() -> WireAnswer:
    raise RecursionError


def test_an_answer_that_is_nested_too_deeply_is_incomplete() -> None:
    read = read_safely(200, too_deep)
    assert (read.complete, read.error_message) == (False, "the answer is nested too deeply to be read")


@pytest.mark.parametrize(("kind", "model"), [("text/event-stream", "stream"), ("application/json", "batch")])
def test_the_content_type_says_how_an_answer_is_read(kind: str, model: str) -> None:
    read = read_batch_or_stream(
        429,
        {"content-type": kind, "retry-after": "7"},
        b"",
        batch=lambda status, body: WireAnswer(status, model="batch"),
        stream=lambda status, body: WireAnswer(status, model="stream"),
    )
    assert (read.status, read.model, read.retry_after) == (429, model, 7.0)


def test_of_what_is_no_json_the_beginning_is_told() -> None:
    assert not_json(502, b"<html>" + b"x" * 900).error_message == "<html>" + "x" * 494
    assert not_json(502, b"").error_message is None


def test_events_that_are_cut_off_or_no_json_are_none_and_comments_are_left_out() -> None:
    body = b': hello\n\ndata: {"n": 1}\n\ndata: {"n"\n\ndata: [DONE]\n\ndata: {"n": 2}'
    assert list(event_documents(body, end="[DONE]")) == [{"n": 1}, None, None]
    assert list(event_documents(body)) == [{"n": 1}, None, None, None]


def role_of(item: Mapping[str, Any]) -> Role:
    found: Role = item["role"]
    return found


def parts_of(item: Mapping[str, Any], /, *, names: Mapping[str, str]) -> Iterable[Part]:
    match item:
        case {"call": call_id}:
            return (FunctionCall(call_id, "read"),)
        case {"result": call_id}:
            return (ToolResult(call_id, names.get(call_id, "?")),)
        case _:
            return (Text(item["text"]),)


def test_neighbouring_items_make_a_message_and_results_have_the_names_of_their_calls() -> None:
    items = [
        {"role": "user", "text": "a"},
        {"role": "user", "text": "b"},
        {"role": "model", "text": "c"},
        {"role": "model", "call": "1"},
        {"role": "tool", "result": "1"},
    ]
    apart = list(item_messages(enumerate(items), role_of, parts_of, apart=("user",)))
    assert [(message.role, len(message.parts), message.message_id) for message in apart] == [
        ("user", 1, "input[0]"),
        ("user", 1, "input[1]"),
        ("model", 2, "input[2]"),
        ("tool", 1, "input[4]"),
    ]
    assert [result.name for result in apart[-1].results] == ["read"]
    joined = list(item_messages(enumerate(items), role_of, parts_of, apart=(), path="items"))
    assert [message.message_id for message in joined] == ["items[0]", "items[2]", "items[4]"]
