"""What was said is in no span unless somebody asks for it, and then in the form of the conventions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import FileRef, InlineData, Text, Thought

from .fakes import Step, call, reply, tool
from .traced import Spans, all_text, fails, open_traced, raising


@pytest.fixture
def spans() -> Spans:
    return Spans()


SECRETS = ("typed-secret", "system-secret", "argument-secret", "result-secret", "answer-secret", "error-secret")


def confide(spans: Spans, *, capture_content: bool) -> str:
    """Everything that is said in one conversation with a word of its own; the text of all spans."""
    steps: tuple[Step, ...] = (
        reply(call("look", "c1", what="argument-secret"), call("fail", "c2")),
        reply("answer-secret"),
        InvalidRequestError("error-secret"),
    )
    session = open_traced(
        spans,
        "stateless",
        *steps,
        system="system-secret",
        tools=[tool("look", lambda args, token: "result-secret"), tool("fail", raising(OSError("error-secret")))],
        tracing=spans.tracing(capture_content=capture_content),
    )
    session.send("typed-secret")
    fails(InvalidRequestError)(session)
    return all_text(spans)


def test_no_content_is_in_spans_unless_asked_for(spans: Spans) -> None:
    text = confide(spans, capture_content=False)
    assert not [secret for secret in SECRETS if secret in text]
    assert all(not span.events and not span.status.description for span in spans.finished)


def test_content_is_in_spans_where_it_is_asked_for(spans: Spans) -> None:
    text = confide(spans, capture_content=True)
    assert [secret for secret in SECRETS if secret in text] == list(SECRETS)


def test_content_has_the_form_of_the_conventions(spans: Spans) -> None:
    session = open_traced(
        spans,
        "stateless",
        reply(Thought("hm"), "Let me see", call("look", "c1", bed=3)),
        reply("Found"),
        tools=[tool()],
        system="Be brief.",
        tracing=spans.tracing(capture_content=True),
    )
    session.send([Text("Look"), InlineData("image/png", b"\x89PNG"), FileRef("image/png", "https://x.test/a.png")])
    chats = (span for span in spans.finished if span.name.startswith("chat"))
    first, second = (dict[str, Any](span.attributes or {}) for span in chats)
    question = {
        "role": "user",
        "parts": [
            {"type": "text", "content": "Look"},
            {"type": "inline", "mime_type": "image/png", "size": 4},
            {"type": "uri", "modality": "image", "mime_type": "image/png", "uri": "https://x.test/a.png"},
        ],
    }
    parts = [
        {"type": "reasoning", "content": "hm"},
        {"type": "text", "content": "Let me see"},
        {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"bed": 3}},
    ]
    answered = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "seen"}]}
    assert json.loads(first["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be brief."}]
    assert json.loads(first["gen_ai.input.messages"]) == [question]
    assert json.loads(first["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": parts, "finish_reason": "tool_use"}
    ]
    assert json.loads(second["gen_ai.input.messages"]) == [question, {"role": "assistant", "parts": parts}, answered]
    used = dict[str, Any](spans.named("execute_tool look").attributes or {})
    assert json.loads(used["gen_ai.tool.call.arguments"]) == {"bed": 3}
    assert json.loads(used["gen_ai.tool.call.result"]) == "seen"
