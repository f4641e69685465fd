"""The ruler: every kind of part has a size, and a message is measured once."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof import messages as m
from turnproof import tokens
from turnproof.tokens import json_tokens, message_tokens, part_tokens, text_tokens, thought_tokens, tool_tokens

SIGNED = m.ProviderData("gemini", "m", {"signature": "s" * 400})

PARTS: list[tuple[Any, int]] = [
    (m.Text("12345678"), 2),
    (m.Thought("1234"), 1),
    (m.InlineData(mime_type="image/png", data=b"x"), 1500),
    (m.InlineData(mime_type="text/plain", data=b"x" * 40), 10),
    (m.FileRef(mime_type="application/pdf", uri="https://x"), 3000),
    (m.ToolResult(call_id="1", name="t", result="12"), 1),
    (m.ToolResult(call_id="1", name="t", result={"a": "b" * 32}), 10),
    (m.ToolResult(call_id="1", name="t", result="", attachments=(m.FileRef("image/png", "u"),)), 1500),
    (m.FunctionCall("1", "t", {"a": 1}), 1 + json_tokens({"a": 1})),
    (
        m.Opaque(dialect="d", kind="k", data={}),
        json_tokens({"part": "opaque", "dialect": "d", "kind": "k", "data": {}}),
    ),
]


@pytest.mark.parametrize(("part", "size"), PARTS, ids=[type(part).__name__ for part, _ in PARTS])
def test_every_kind_of_part_has_a_size(part: Any, size: int) -> None:
    assert part_tokens(part) == size > 0


@pytest.mark.parametrize(("text", "size"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 4, 2), ("🌍", 1)])
def test_four_bytes_make_a_token(text: str, size: int) -> None:
    assert text_tokens(text) == size


def test_a_message_weighs_what_its_parts_do_and_a_little_more() -> None:
    parts = [part for part, _ in PARTS]
    whole = message_tokens(m.Message("model", tuple(parts)))
    assert sum(map(part_tokens, parts)) < whole <= sum(map(part_tokens, parts)) + 6 * len(parts)


def test_signatures_weigh_something() -> None:
    bare, signed = m.Message.model(m.Thought("hm")), m.Message.model(m.Thought("hm", provider_data=SIGNED))
    assert message_tokens(signed) - message_tokens(bare) > 100


def test_thinking_is_told_from_what_was_said() -> None:
    message = m.Message.model(m.Thought("hm" * 20), "Hello")
    assert message_tokens(message) - thought_tokens(message) == message_tokens(m.Message.model("Hello"))
    assert thought_tokens(m.Message.model("Hello")) == 0


def test_no_message_weighs_nothing() -> None:
    assert message_tokens(m.Message("model", ())) == 1


def test_a_message_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[m.Part] = []
    message = m.Message.user("Hello")

    def watched(part: m.Part) -> int:
        measured.append(part)
        return 1

    monkeypatch.setattr(tokens, "part_tokens", watched)
    for _ in range(3):
        message_tokens(message)
        thought_tokens(message)
    assert measured == [m.Text("Hello")]


def test_what_is_known_of_a_message_goes_with_it() -> None:
    message = m.Message.user("Hello")
    message_tokens(message)
    before = len(tokens._known)
    del message
    assert len(tokens._known) == before - 1


def test_a_tool_weighs_its_name_description_and_schema() -> None:
    small = m.ToolSchema("look")
    large = m.ToolSchema("look", "Looks at something. " * 10, {"type": "object"})
    assert tool_tokens(large) - tool_tokens(small) >= 50
