"""What is no message, no part or no JSON: refused where it is made, with the place, and never a crash further on."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from typing import Any

import pytest
from session.fakes import FakeStateless

from turnproof import messages as m
from turnproof._base.frozen import MAX_BITS, MAX_DEPTH
from turnproof.errors import PayloadError, ProviderError, RateLimitError, TurnproofError
from turnproof.session import RetryPolicy, Session

wrong: Any = lambda value: value  # noqa: E731 (what no type checker would let through)

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: m.Text(wrong(5)), "$.text"),
    (lambda: m.Text(wrong(None)), "$.text"),
    (lambda: m.Text("hi", provider_data=wrong({"signature": "x"})), "$.provider_data"),
    (lambda: m.Text("hi", cache=wrong(True)), "$.cache"),
    (lambda: m.Thought(wrong(b"hm")), "$.text"),
    (lambda: m.FunctionCall(wrong(1), "read"), "$.id"),
    (lambda: m.FunctionCall("c1", wrong(None)), "$.name"),
    (lambda: m.FunctionCall("c1", "read", wrong([1])), "$.args"),
    (lambda: m.ToolResult(wrong(None), "read"), "$.call_id"),
    (lambda: m.ToolResult("c1", "read", is_error=wrong("no")), "$.is_error"),
    (lambda: m.ToolResult("c1", "read", attachments=wrong("png")), "$.attachments"),
    (lambda: m.ToolResult("c1", "read", attachments=wrong([m.Text("x")])), "$.attachments[0]"),
    (lambda: m.InlineData(wrong(None), b""), "$.mime_type"),
    (lambda: m.InlineData("image/png", wrong("data")), "$.data"),
    (lambda: m.FileRef("image/png", wrong(None)), "$.uri"),
    (lambda: m.ExecutableCode("PYTHON", wrong(1)), "$.code"),
    (lambda: m.Opaque("d", "k", wrong([])), "$.data"),
    (lambda: m.ProviderData("d", wrong(None), {}), "$.model"),
    (lambda: m.ProviderData("d", "m", wrong(None)), "$.data"),
    (lambda: m.ToolSchema(wrong(None)), "$.name"),
    (lambda: m.ToolSchema("read", "d", wrong([])), "$.parameters"),
    (lambda: m.Message(wrong("assistant"), ()), "$.role"),
    (lambda: m.Message("user", wrong("hi")), "$.parts"),
    (lambda: m.Message("user", wrong(None)), "$.parts"),
    (lambda: m.Message("user", (m.Text("a"), wrong("b"))), "$.parts[1]"),
    (lambda: m.Message("user", wrong([{"text": "hi"}])), "$.parts[0]"),
    (lambda: m.Message.user(wrong(5)), "$.parts[0]"),
    (lambda: m.Message("user", (), wrong(7)), "$.message_id"),
    (lambda: m.TokenUsage(wrong("1")), "$.prompt_tokens"),
    (lambda: m.TokenUsage(1, wrong(None)), "$.output_tokens"),
    (lambda: m.TokenUsage(1, 2, wrong(True)), "$.total_tokens"),
    (lambda: m.TokenUsage(thinking_tokens=wrong(1.0)), "$.thinking_tokens"),
    (lambda: m.ProviderResponse(wrong("hi")), "$.parts"),
    (lambda: m.ProviderResponse((wrong({"text": "hi"}),)), "$.parts[0]"),
    (lambda: m.ProviderResponse(usage=wrong({"total": 1})), "$.usage"),
    (lambda: m.ProviderResponse(finish_reason=wrong("fine")), "$.finish_reason"),
    (lambda: m.ProviderResponse(raw_finish=wrong(5)), "$.raw_finish"),
    (lambda: m.ProviderResponse(model=wrong(b"m")), "$.model"),
]


@pytest.mark.parametrize(("make", "path"), REFUSED, ids=[f"{n}: {path}" for n, (_, path) in enumerate(REFUSED)])
def test_a_field_of_another_type_is_refused_with_its_path(make: Callable[[], object], path: str) -> None:
    with pytest.raises(PayloadError) as refusal:
        make()
    assert refusal.value.path == path
    assert "got" in refusal.value.reason


def test_parts_in_a_list_become_a_tuple_that_nobody_else_holds() -> None:
    parts = [m.Text("hi")]
    message = m.Message("user", wrong(parts))
    parts.append(m.Text("there"))
    assert message.parts == (m.Text("hi"),)


def test_an_answer_is_made_of_what_stands_for_its_fields() -> None:
    answer = m.ProviderResponse(wrong([m.Text("hi")]), finish_reason=wrong("stop"))
    assert answer.parts == (m.Text("hi"),)
    assert answer.finish_reason is m.FinishReason.STOP


@pytest.mark.parametrize("count", [1 << 63, -(1 << 70), 10**4000])
def test_more_tokens_than_anybody_can_have_are_refused(count: int) -> None:
    with pytest.raises(PayloadError, match="no count of tokens"):
        m.TokenUsage(count)


@pytest.mark.parametrize("half", ["a\ud800b", "\udc00"])
def test_messages_that_nobody_can_be_sent_are_written_and_read(half: str) -> None:
    message = m.Message.model(m.Text(half), m.FunctionCall(half, half))
    (read,) = m.load_messages(m.dump_messages([message]))
    assert read.parts == message.parts


@pytest.mark.parametrize("text", [b"[" * 100_000, b'[{"role":' * 100_000, b"\xff", b"", b"{}", b'["\\ud800"]'])
def test_text_that_is_no_list_of_messages_is_refused_whatever_it_is(text: bytes) -> None:
    with pytest.raises(PayloadError, match="not a list of messages"):
        m.load_messages(text)


HINTS: list[tuple[Any, float | None]] = [
    (5, 5),
    (0.0, 0.0),
    (-1, None),
    (float("nan"), None),
    (float("inf"), None),
    ("5", None),
    (None, None),
]


@pytest.mark.parametrize(("hint", "delay"), HINTS)
def test_a_hint_that_nobody_can_wait_for_counts_as_none(hint: Any, delay: float | None) -> None:
    assert RateLimitError("no", retry_after=hint).retry_after == delay
    later = RateLimitError("no")
    later.retry_after = hint
    policy = RetryPolicy(base=2.0, jitter=0)
    assert policy.delay(1, later) == (2.0 if delay is None else delay)


def test_an_error_that_does_not_call_ours_can_be_asked_all_the_same() -> None:
    class Own(ProviderError):
        def __init__(self) -> None:
            Exception.__init__(self, "mine")

    error = Own()
    assert (str(error), error.status, error.retry_after, error.partial) == ("mine", None, None, ())
    assert ProviderError("x", status=wrong("500")).status is None


class Name(str):
    pass


class Colour(enum.StrEnum):
    RED = "red"


class Count(int):
    pass


class Share(float):
    pass


def test_what_is_nearly_a_json_value_becomes_one_and_can_be_written() -> None:
    args = {Name("a"): Name("x"), "b": Colour.RED, "c": Count(3), "d": Share(0.5), "e": (1, 2), Colour.RED: True}
    message = m.Message.model(m.Text(Name("hi")), m.FunctionCall(Name("c1"), Colour.RED, args))
    (read,) = m.load_messages(m.dump_messages([message]))
    assert read.parts == message.parts
    assert {type(key) for key in message.calls[0].args} == {str}
    assert [type(value) for value in list(message.calls[0].args.values())[:4]] == [str, str, int, float]


def nested(depth: int) -> Any:
    value: Any = 1
    for n in range(depth):
        value = {"a": value} if n % 2 else [value]
    return value


def test_a_payload_at_its_deepest_goes_through_text_and_back() -> None:
    message = m.Message.tool(m.ToolResult("c1", "read", nested(MAX_DEPTH)))
    assert m.load_messages(m.dump_messages([message]))[0].parts == message.parts
    assert repr(message)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_a_payload_nested_deeper_is_refused_with_a_path_of_bearable_length(depth: int) -> None:
    with pytest.raises(PayloadError, match="nested deeper") as refusal:
        m.ToolResult("c1", "read", nested(depth))
    assert refusal.value.path.startswith("$.result[0]" if depth % 2 else "$.result.a")
    assert len(str(refusal.value)) < 400


def test_wrapping_what_is_frozen_already_does_not_get_around_the_limit() -> None:
    deepest = m.ToolResult("c1", "read", nested(MAX_DEPTH)).result
    assert m.ToolResult("c1", "read", deepest).result is deepest
    with pytest.raises(PayloadError, match="nested deeper"):
        m.ToolResult("c1", "read", {"inner": deepest})


UNWRITABLE = {
    "inf": float("inf"),
    "-inf": -float("inf"),
    "nan": float("nan"),
    "long": 1 << MAX_BITS,
    "-long": -(10**5000),
}


@pytest.mark.parametrize("number", UNWRITABLE.values(), ids=UNWRITABLE)
def test_a_number_that_json_cannot_carry_is_refused(number: Any) -> None:
    with pytest.raises(PayloadError) as refusal:
        m.FunctionCall("c1", "read", {"x": [0, number]})
    assert refusal.value.path == "$.args.x[1]"


def test_the_longest_number_goes_through_text_and_back() -> None:
    message = m.Message.tool(m.ToolResult("c1", "read", (1 << MAX_BITS) - 1))
    assert m.load_messages(m.dump_messages([message]))[0].parts == message.parts


# -- from elsewhere -------------------------------------------------------------------------------------------


def saved(**message: Any) -> str:
    """A saved session of one message that is not as it should be."""
    session = Session(FakeStateless())
    session.reset([m.Message("user", (m.Text("hi"),), "m1")])
    state = json.loads(session.save())
    state["messages"][0] |= message
    return json.dumps(state)


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ({"role": "assistant"}, "$.messages[0].role"),
        ({"parts": [{"part": "hologram", "text": "x"}]}, "$.messages[0].parts[0]"),
        ({"parts": [{"part": "text"}]}, "$.messages[0].parts[0]"),
        ({"parts": [{"part": "text", "text": 5}]}, "$.messages[0].parts[0].text"),
        ({"parts": "hi"}, "$.messages[0].parts"),
        ({"message_id": None}, "$.messages[0].message_id"),
    ],
    ids=["role", "kind of part", "no text", "number as text", "parts as text", "no id"],
)
def test_a_saved_session_with_something_unknown_in_it_is_refused_and_changes_nothing(
    damage: dict[str, Any], where: str
) -> None:
    session = Session(FakeStateless())
    session.reset([m.Message.user("kept")])
    with pytest.raises(TurnproofError) as refusal:
        session.restore(saved(**damage))
    assert where in str(refusal.value)
    assert [message.text for message in session.history.messages] == ["kept"]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format":' * 100_000, "\ud800", "\0", "", "null", "[]", "1e400"])
def test_text_that_is_no_saved_session_is_refused_whatever_it_is(text: str) -> None:
    session = Session(FakeStateless())
    session.reset([m.Message.user("kept")])
    with pytest.raises(TurnproofError):
        session.restore(text)
    assert [message.text for message in session.history.messages] == ["kept"]
