"""Requests read into neutral form: nothing lost, nothing renamed, and a reason for whatever cannot be read."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, HttpRequest, Refusal
from turnproof.messages import CacheMark, FileRef, FunctionCall, Opaque, Part, Text, Thought, ToolResult, ToolSchema

from ..histories import PNG
from ..parts import inline
from ..requests import read_call
from .asks import Ask, ask, counted, world
from .builders import (
    MODEL,
    OPENING,
    REDACTED,
    SIGNATURE,
    THOUGHT,
    TOOL,
    assistant,
    call,
    issued,
    mark,
    result,
    system,
    text,
    thinking,
    user,
)

NAME = "anthropic-messages"


def parsed(request: Ask) -> Call:
    return read_call(DIALECT, request, world())


def only_part(block: dict[str, Any], role: str = "user") -> Part:
    """The one part of the one block of a message."""
    (message,) = parsed(ask({"role": role, "content": [block]})).messages
    (part,) = message.parts
    return part


def source(**fields: Any) -> dict[str, Any]:
    return {"type": "document", "source": fields}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (text("Hello"), Text("Hello")),
        (text("Hello", **mark("1h")), Text("Hello", cache=CacheMark("1h"))),
        (
            text("a", citations=[{"n": 1}]),
            Text("a", provider_data=issued(citations=[{"n": 1}])),
        ),
        (text("a", citations=[]), Text("a")),
        (thinking(), Thought(THOUGHT, provider_data=issued(signature=SIGNATURE))),
        (thinking(signature=""), Thought(THOUGHT)),
        (
            {"type": "redacted_thinking", "data": REDACTED},
            Thought("", provider_data=issued(redacted=REDACTED)),
        ),
        (call(), FunctionCall("call_1", "read_sensor", {"bed": "3"})),
        (call(caller={"type": "direct"}), FunctionCall("call_1", "read_sensor", {"bed": "3"})),
        (
            call(caller={"type": "code"}),
            FunctionCall(
                "call_1",
                "read_sensor",
                {"bed": "3"},
                provider_data=issued(caller={"type": "code"}),
            ),
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": b64encode(b"png").decode()},
            },
            PNG,
        ),
        ({"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}, FileRef("image/*", "https://a/b.png")),
        (source(type="text", media_type="text/plain", data="log"), inline(b"log", "text/plain")),
        (source(type="url", url="https://a/b.pdf"), FileRef("application/pdf", "https://a/b.pdf")),
        (source(type="file", file_id="file_1"), FileRef("application/pdf", "file_1")),
        (
            source(type="file", file_id="file_1") | {"title": "Log"},
            FileRef("application/pdf", "file_1", provider_data=issued(title="Log")),
        ),
        (source(type="content", content=[]), Opaque(NAME, "document", source(type="content", content=[]))),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "no base64!"}},
            Opaque(
                NAME,
                "image",
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "no base64!"}},
            ),
        ),
        ({"type": "hologram", "x": 1}, Opaque(NAME, "hologram", {"type": "hologram", "x": 1})),
    ],
)
def test_each_block_becomes_its_part(block: dict[str, Any], part: Part) -> None:
    assert only_part(block, "assistant") == part


@pytest.mark.parametrize(
    ("content", "expected", "attachments"),
    [
        ("41 %", "41 %", ()),
        ('{"percent": 41}', '{"percent": 41}', ()),
        ([text("41 "), text("%")], "41 %", ()),
        ([], None, ()),
        (None, None, ()),
        (
            [text("see"), {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}],
            "see",
            (FileRef("image/*", "https://a/b.png"),),
        ),
    ],
)
def test_a_result_keeps_its_text_as_it_stood_and_its_attachments(
    content: Any, expected: str | None, attachments: tuple[FileRef, ...]
) -> None:
    found = parsed(ask(OPENING, assistant(call()), user(result(content=content, is_error=True))))
    assert found.messages[-1].parts == (ToolResult("call_1", "read_sensor", expected, True, attachments),)


def test_blocks_in_a_result_that_no_part_names_are_kept() -> None:
    found = {"type": "search_result", "source": "s", "title": "t", "content": []}
    part = only_part(result(content=[found]))
    assert part.provider_data == issued("", content=[found])


def test_results_stand_as_a_tool_message_in_front_of_the_text_beside_them() -> None:
    found = parsed(ask(OPENING, assistant(call()), user(result(), text("And bed 4?"))))
    assert [message.role for message in found.messages] == ["user", "model", "tool", "user"]
    assert found.messages[3].text == "And bed 4?"


def test_a_result_without_a_known_call_has_no_name() -> None:
    assert only_part(result("never-asked")) == ToolResult("never-asked", "", "41 %")


def test_the_whole_request_is_read() -> None:
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
    found = parsed(
        ask(
            OPENING,
            system("Be brief."),
            model="claude-opus-4-8",
            stream=True,
            system=[text("You keep a log.", **mark())],
            tools=[TOOL | mark(), search],
            thinking={"type": "adaptive"},
        )
    )
    assert found.operation == "generate"
    assert found.model == "claude-opus-4-8"
    assert found.stream
    assert found.system == (Text("You keep a log.", cache=CacheMark("5m")),)
    assert found.tools == (
        ToolSchema("read_sensor", "Read one sensor", {"type": "object"}, CacheMark("5m")),
        ToolSchema("web_search", "", search),
    )
    assert [(message.role, message.text) for message in found.messages] == [
        ("user", "How moist is bed 3?"),
        ("system", "Be brief."),
    ]
    assert found.settings == {"max_tokens": 256, "thinking": {"type": "adaptive"}}


def test_a_string_and_one_text_block_are_the_same() -> None:
    one, other = parsed(ask(user("Hello"), system="S")), parsed(ask(user(text("Hello")), system=[text("S")]))
    assert DIALECT.match_form(one) == DIALECT.match_form(other)


def test_the_form_that_cassettes_match_on_has_no_marks_settings_or_tool_order() -> None:
    other = TOOL | {"name": "water"}
    one = ask(user(text("Hello", **mark())), tools=[TOOL | mark(), other], max_tokens=1, temperature=0.5)
    assert DIALECT.match_form(parsed(one)) == DIALECT.match_form(parsed(ask(user("Hello"), tools=[other, TOOL])))
    for changed in (
        ask(user("Hallo"), tools=[other, TOOL]),
        ask(user("Hello"), tools=[TOOL]),
        ask(user("Hello"), tools=[other, TOOL], model="claude-haiku-4-5"),
        ask(user("Hello"), tools=[other, TOOL], system="S"),
    ):
        assert DIALECT.match_form(parsed(changed)) != DIALECT.match_form(parsed(one))


def test_thinking_is_matched_with_its_signature() -> None:
    one, other = ask(OPENING, assistant(thinking())), ask(OPENING, assistant(thinking(signature="b3RoZXI=")))
    assert DIALECT.match_form(parsed(one)) != DIALECT.match_form(parsed(other))


@pytest.mark.parametrize(
    ("method", "path", "operation", "model"),
    [
        ("POST", "/v1/messages", "generate", MODEL),
        ("POST", "/v1/messages/", "generate", MODEL),
        ("POST", "/v1/messages/count_tokens", "count_tokens", MODEL),
        ("GET", "/v1/models", "list_models", None),
        ("GET", f"/v1/models/{MODEL}", "get_model", MODEL),
    ],
)
def test_each_address_is_an_operation(method: str, path: str, operation: str, model: str | None) -> None:
    found = parsed(Ask(ask().body, path, method))
    assert (found.operation, found.model) == (operation, model)


def test_the_beta_namespace_is_the_same_address() -> None:
    request = ask().request()
    beta = HttpRequest(request.method, request.path, {"beta": "true"}, request.headers, request.body)
    assert isinstance(DIALECT.parse(beta, world()), Call)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'{"model": "m", "max_tokens": 1, "messages": {}}',
        b'{"model": "m", "max_tokens": 1, "messages": [1]}',
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": 1}]}',
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [1]}]}',
        b'{"model": "m", "max_tokens": true, "messages": []}',
        b'{"model": "m", "max_tokens": 1, "messages": [], "system": 1}',
        b'{"model": "m", "max_tokens": 1, "messages": [], "system": [1]}',
        b'{"model": "m", "max_tokens": 1, "messages": [], "tools": 1}',
        b'{"model": "m", "max_tokens": 1, "messages": [], "tools": [1]}',
        b'{"model": "m", "max_tokens": 1, "messages": [], "tools": [{"name": "t", "input_schema": 1}]}',
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "image"}]}]}',
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "tool_use", "id": 1}]}]}',
        (
            b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": '
            b'[{"type": "tool_use", "input": 1}]}]}'
        ),
        (
            b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": '
            b'[{"type": "tool_result", "content": 1}]}]}'
        ),
        b'\xff{"model": "m"}',
        b'{"a":' * 5000,
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": ' + b"[" * 400 + b"]" * 400 + b"}]}",
    ],
)
def test_what_cannot_be_read_is_refused_and_never_raises(raw: bytes) -> None:
    found = DIALECT.parse(Ask(raw=raw).request(), world())
    assert isinstance(found, Refusal)
    assert (found.status, found.kind) == (400, "invalid_request_error")
    assert found.enforced


def test_counting_needs_no_max_tokens() -> None:
    assert parsed(counted()).operation == "count_tokens"
