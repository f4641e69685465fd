"""A conversation as contents of the API: out and back without a change of meaning."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import InvalidRequestError
from turnproof_adapters.antigravity.history import (
    answer_contents,
    contents_of,
    messages_of,
    open_calls,
    sendable_contents,
)
from turnproof_adapters.antigravity.models import target
from turnproof_adapters.google_genai.arrange import contents as arranged
from turnproof_adapters.google_genai.names import restorer

from ..google_genai.histories import arbitrary
from .kit import CLAUDE, GEMINI, GPT, OLD, issued, mark

NAMES = restorer(lambda: ["mcp/files read", "plain"])
MADE_UP = "unnamed-0123456789abcdef-0"


def back(messages: list[m.Message], model: str = GEMINI) -> list[m.Message]:
    to = target(model)
    return messages_of(contents_of(messages, to), to, NAMES)


def rich(model: str) -> list[m.Message]:
    """One of everything that the contents have a form for."""
    code_data = m.ProviderData("antigravity", model, {"id": "x1"})
    signed = issued(model)
    return [
        m.Message.user(
            "look", m.InlineData("image/png", b"\xfb\xff\xfe"), m.FileRef("application/pdf", "gs://a/b.pdf")
        ),
        m.Message.model(
            m.Thought("hm", provider_data=signed),
            "two things",
            m.FunctionCall("functions.a:0", "plain", {"deep": [1, 2.5, None, {"x": "’北"}]}, provider_data=signed),
            m.FunctionCall(MADE_UP, "mcp/files read", {}),
        ),
        m.Message.tool(
            m.ToolResult("functions.a:0", "plain", {"output": 1}, attachments=(m.FileRef("audio/x", "u"),)),
            m.ToolResult(MADE_UP, "mcp/files read", "no such file", is_error=True),
        ),
        m.Message.model(
            m.ExecutableCode("PYTHON", "print(1)", provider_data=code_data),
            m.CodeExecutionResult("OUTCOME_OK", "1\n", provider_data=code_data),
            m.Opaque("antigravity", "toolCall", {"toolCall": {"id": "s", "args": {}}}),
            m.Text("Done.", provider_data=signed),
        ),
        m.Message.user("thanks"),
    ]


@pytest.mark.parametrize("model", [GEMINI, OLD, CLAUDE, GPT])
def test_out_and_back_keeps_everything(model: str) -> None:
    assert m.same_history(back(rich(model), model), rich(model), ids=False)


@pytest.mark.parametrize("model", [GEMINI, CLAUDE])
def test_a_thought_without_a_signature_is_kept_also_where_it_does_not_go_out(model: str) -> None:
    history = [
        m.Message.user("hi"),
        m.Message.model(m.Thought("hm", provider_data=mark(model)), "ho"),
        m.Message.user("so?"),
    ]
    assert m.same_history(back(history, model), history, ids=False)
    (_, answer, _) = sendable_contents(contents_of(history, target(model)), target(model))
    assert len(answer["parts"]) == (1 if model == CLAUDE else 2)


@pytest.mark.parametrize("model", [GEMINI, CLAUDE])
def test_an_answer_that_is_nothing_but_thinking_is_kept_and_not_sent(model: str) -> None:
    to = target(model)
    thoughts = m.Thought("hm", provider_data=to.mark), m.Thought("ha", provider_data=to.mark)
    (content,) = answer_contents(thoughts, to)
    (message,) = messages_of([content], to, NAMES)
    assert message.parts == thoughts
    assert sendable_contents([content], to) == []
    assert answer_contents((), to) == []
    assert sendable_contents(answer_contents((m.Text("ho"),), to), to) == [{"role": "model", "parts": [{"text": "ho"}]}]


def test_a_result_keeps_its_image_where_responses_hold_them() -> None:
    image = m.InlineData("image/png", b"\x01")
    history = [
        m.Message.user("hi"),
        m.Message.model(m.FunctionCall("a", "f", {}, provider_data=issued()), m.FunctionCall("b", "f", {})),
        m.Message.tool(
            m.ToolResult("a", "f", 1, attachments=(image,)), m.ToolResult("b", "f", 2, attachments=(image,))
        ),
    ]
    assert m.same_history(back(history), history, ids=False)


def test_a_stand_in_for_a_signature_is_none() -> None:
    history = [
        m.Message.user("hi"),
        m.Message.model(m.FunctionCall("a", "f", {})),
        m.Message.tool(m.ToolResult("a", "f", 1)),
    ]
    assert m.same_history(back(history), history, ids=False)


def test_what_another_service_signed_has_no_place_there() -> None:
    foreign = m.ProviderData("anthropic-messages", CLAUDE, {"signature": "s=="})
    history = [
        m.Message.user("hi"),
        m.Message.model(m.Thought("hm", provider_data=foreign), m.Text("ho", provider_data=foreign)),
    ]
    assert back(history)[1].parts == (m.Text("ho"),)


@pytest.mark.parametrize("model", [GEMINI, OLD, CLAUDE, GPT])
def test_what_goes_out_is_what_the_stateless_path_sends(model: str) -> None:
    """Also of conversations in which anything follows anything: the one is arranged once, the other at every call."""
    to = target(model)
    for seed in range(80):
        messages = [m.Message.user("hi"), *arbitrary(seed), m.Message.user("so?")]
        contents = contents_of(messages, to)
        assert sendable_contents(contents, to) == arranged(messages, to), seed
        again = messages_of(contents, to, NAMES)
        assert sendable_contents(contents_of(again, to), to) == sendable_contents(contents, to), seed


def test_calls_at_the_end_stay_open() -> None:
    to = target(GEMINI)
    called = m.Message.model("let me look", m.FunctionCall("a", "f", {}), m.FunctionCall(MADE_UP, "g", {}))
    contents = contents_of([m.Message.user("hi"), called], to)
    assert [content["role"] for content in contents] == ["user", "model"]
    assert [call.id for call in open_calls(contents, to, NAMES)] == ["a", MADE_UP]
    assert open_calls(contents[:1], to, NAMES) == ()


def test_contents_are_plain_data_of_their_own() -> None:
    args: dict[str, Any] = {"x": [1]}
    (_, content) = contents_of([m.Message.user("hi"), m.Message.model(m.FunctionCall("a", "f", args))], target(GEMINI))
    content["parts"][0]["functionCall"]["args"]["x"].append(2)
    assert args == {"x": [1]}


def test_what_cannot_be_sent_cannot_be_kept() -> None:
    with pytest.raises(InvalidRequestError, match="surrogate"):
        contents_of([m.Message.user("\ud83d")], target(GEMINI))
