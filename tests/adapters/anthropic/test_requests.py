"""What goes on the wire for a history, read from the request that left the SDK's client."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest

from turnproof.errors import InvalidRequestError, UsageError
from turnproof.messages import (
    CacheMark,
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    ProviderData,
    Text,
    Thought,
    ToolResult,
    ToolSchema,
)

from .kit import DATED, Capture, stateless

OURS = "anthropic-messages"


def signed(text: str, signature: str = "sig==", model: str = DATED, dialect: str = OURS) -> Thought:
    return Thought(text, provider_data=ProviderData(dialect, model, {"signature": signature}))


def sent(*messages: Message, model: str = "claude-sonnet-4-5", **kwargs: Any) -> Any:
    options = kwargs.pop("options", {})
    capture = Capture()
    provider = stateless("http://example.invalid", model, transport=capture.transport, **options)
    provider.complete(messages, **kwargs)
    return capture.body


def call(call_id: str = "toolu_1", name: str = "read", **args: Any) -> FunctionCall:
    return FunctionCall(call_id, name, args)


def result(call_id: str = "toolu_1", value: Any = "ok", **kwargs: Any) -> ToolResult:
    return ToolResult(call_id, "read", value, **kwargs)


def use(call_id: str = "toolu_1", name: str = "read", **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": args}


def answered(call_id: str = "toolu_1", content: Any = "ok", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


UNANSWERED = "No result: the call was not carried out."


@dataclass(frozen=True)
class Case:
    id: str
    history: tuple[Message, ...]
    wire: list[tuple[str, list[dict[str, Any]]]]


HI = Message.user("hi")

ARRANGEMENTS = [
    Case(
        "a-tool-round-is-call-then-result",
        (HI, Message.model("let me look", call(path="/a")), Message.tool(result()), Message.user("thanks")),
        [
            ("user", [said("hi")]),
            ("assistant", [said("let me look"), use(path="/a")]),
            ("user", [answered(), said("thanks")]),
        ],
    ),
    Case("neighbours-of-one-role-are-merged", (HI, Message.user("there")), [("user", [said("hi"), said("there")])]),
    Case(
        "calls-of-two-model-messages-are-answered-together",
        (HI, Message.model(call("a")), Message.model(call("b")), Message.tool(result("a"), result("b"))),
        [("user", [said("hi")]), ("assistant", [use("a"), use("b")]), ("user", [answered("a"), answered("b")])],
    ),
    Case(
        "results-come-first-and-in-call-order",
        (HI, Message.model(call("a"), call("b")), Message.user("wait"), Message.tool(result("b"), result("a"))),
        [
            ("user", [said("hi")]),
            ("assistant", [use("a"), use("b")]),
            ("user", [answered("a"), answered("b"), said("wait")]),
        ],
    ),
    Case(
        "nothing-follows-a-call-in-its-message",
        (HI, Message.model(call("a"), Text("and")), Message.tool(result("a"))),
        [("user", [said("hi")]), ("assistant", [said("and"), use("a")]), ("user", [answered("a")])],
    ),
    Case(
        "a-dangling-call-gets-a-result-that-says-so",
        (HI, Message.model(call("a"), call("b")), Message.tool(result("b")), Message.user("go on")),
        [
            ("user", [said("hi")]),
            ("assistant", [use("a"), use("b")]),
            ("user", [answered("a", UNANSWERED, is_error=True), answered("b"), said("go on")]),
        ],
    ),
    Case(
        "a-call-at-the-very-end-is-answered-too",
        (HI, Message.model(call("a"))),
        [("user", [said("hi")]), ("assistant", [use("a")]), ("user", [answered("a", UNANSWERED, is_error=True)])],
    ),
    Case(
        "an-orphan-result-is-left-out",
        (HI, Message.tool(result("gone")), Message.model("yes"), Message.tool(result("gone")), Message.user("so")),
        [("user", [said("hi")]), ("assistant", [said("yes")]), ("user", [said("so")])],
    ),
    Case(
        "model-messages-with-only-an-orphan-between-them-are-merged",
        (HI, Message.model("yes"), Message.tool(result("gone")), Message.model("no"), Message.user("so")),
        [("user", [said("hi")]), ("assistant", [said("yes"), said("no")]), ("user", [said("so")])],
    ),
    Case(
        "a-second-result-for-one-call-is-left-out",
        (HI, Message.model(call("a")), Message.tool(result("a", "1"), result("a", "2"))),
        [("user", [said("hi")]), ("assistant", [use("a")]), ("user", [answered("a", "1")])],
    ),
    Case(
        "one-id-used-twice-in-a-message-is-told-apart",
        (HI, Message.model(call("a", x=1), call("a", x=2)), Message.tool(result("a", "1"), result("a", "2"))),
        [
            ("user", [said("hi")]),
            ("assistant", [use("a", x=1), use("a_2", x=2)]),
            ("user", [answered("a", "1"), answered("a_2", "2")]),
        ],
    ),
    Case(
        "one-id-in-two-turns-is-left-alone",
        (HI, Message.model(call("a")), Message.tool(result("a")), Message.model(call("a")), Message.tool(result("a"))),
        [
            ("user", [said("hi")]),
            ("assistant", [use("a")]),
            ("user", [answered("a")]),
            ("assistant", [use("a")]),
            ("user", [answered("a")]),
        ],
    ),
    Case(
        "blank-texts-and-empty-messages-are-left-out",
        (HI, Message.model("", " \n"), Message.user(""), Message.model("yes", ""), Message("user", ())),
        [("user", [said("hi")]), ("assistant", [said("yes")])],
    ),
    Case(
        "an-answer-at-the-end-loses-its-trailing-blanks-only",
        (HI, Message.model("  one\n", "  two \n")),
        [("user", [said("hi")]), ("assistant", [said("  one\n"), said("  two")])],
    ),
    Case(
        "a-conversation-may-begin-with-the-model",
        (Message.model("welcome"), HI),
        [("assistant", [said("welcome")]), ("user", [said("hi")])],
    ),
    Case(
        "an-instruction-in-mid-conversation-is-said-by-the-user-where-the-model-knows-no-other-way",
        (HI, Message.system("be brief"), Message.model("ok")),
        [("user", [said("hi"), said("be brief")]), ("assistant", [said("ok")])],
    ),
]


@pytest.mark.parametrize("case", ARRANGEMENTS, ids=attrgetter("id"))
def test_the_conversation_is_arranged_as_the_api_insists(case: Case) -> None:
    body = sent(*case.history)
    assert [(message["role"], message["content"]) for message in body["messages"]] == case.wire


MID_SYSTEM = [
    Case(
        "after-the-user-and-before-the-model-it-stands-alone",
        (HI, Message.system("be brief"), Message.model("ok"), Message.user("so")),
        [("user", [said("hi")]), ("system", [said("be brief")]), ("assistant", [said("ok")]), ("user", [said("so")])],
    ),
    Case(
        "it-may-come-last",
        (HI, Message.system("be brief")),
        [("user", [said("hi")]), ("system", [said("be brief")])],
    ),
    Case(
        "before-more-of-the-user-it-is-the-users",
        (HI, Message.system("be brief"), Message.user("so")),
        [("user", [said("hi"), said("be brief"), said("so")])],
    ),
    Case(
        "after-the-model-it-is-the-users",
        (HI, Message.model("ok"), Message.system("be brief"), Message.model("yes")),
        [
            ("user", [said("hi")]),
            ("assistant", [said("ok")]),
            ("user", [said("be brief")]),
            ("assistant", [said("yes")]),
        ],
    ),
    Case(
        "after-results-that-answer-nothing-it-is-the-users",
        (HI, Message.model("ok"), Message.tool(result("gone")), Message.system("be brief"), Message.model("yes")),
        [
            ("user", [said("hi")]),
            ("assistant", [said("ok")]),
            ("user", [said("be brief")]),
            ("assistant", [said("yes")]),
        ],
    ),
]


@pytest.mark.parametrize("case", MID_SYSTEM, ids=attrgetter("id"))
def test_a_model_that_takes_instructions_in_mid_conversation_gets_them_where_it_may(case: Case) -> None:
    body = sent(*case.history, model="claude-opus-4-8")
    assert [(message["role"], message["content"]) for message in body["messages"]] == case.wire


IMAGE = InlineData("image/png", b"\x89PNG")
IMAGE_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": b64encode(b"\x89PNG").decode()},
}


@dataclass(frozen=True)
class PartCase:
    id: str
    part: Part
    block: dict[str, Any]


USER_PARTS = [
    PartCase("image", IMAGE, IMAGE_BLOCK),
    PartCase(
        "pdf",
        InlineData("application/pdf", b"%PDF"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": b64encode(b"%PDF").decode()},
        },
    ),
    PartCase(
        "text-file",
        InlineData("text/csv", b"a;b"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a;b"}},
    ),
    PartCase(
        "image-by-url",
        FileRef("image/jpeg", "https://example.com/a.jpg"),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}},
    ),
    PartCase(
        "stored-file",
        FileRef("application/pdf", "file_011"),
        {"type": "document", "source": {"type": "file", "file_id": "file_011"}},
    ),
    PartCase("unknown-block-of-ours", Opaque(OURS, "x", {"type": "x", "y": 1}), {"type": "x", "y": 1}),
    PartCase("code-another-service-ran", ExecutableCode("PYTHON", "1+1"), said("```python\n1+1\n```")),
    PartCase("what-that-code-gave", CodeExecutionResult("OK", "2"), said("```\n2\n```")),
    PartCase(
        "marked-text",
        Text("keep", cache=CacheMark()),
        {**said("keep"), "cache_control": {"type": "ephemeral"}},
    ),
    PartCase(
        "text-marked-for-an-hour",
        Text("keep", cache=CacheMark("1h")),
        {**said("keep"), "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ),
]


@pytest.mark.parametrize("case", USER_PARTS, ids=attrgetter("id"))
def test_a_user_part_becomes_its_block(case: PartCase) -> None:
    assert sent(Message.user("see", case.part))["messages"][0]["content"] == [said("see"), case.block]


RESULTS = [
    PartCase("string", result(value="plain ’北🌍"), answered(content="plain ’北🌍")),
    PartCase("json", result(value={"a": [1, None]}), answered(content='{"a":[1,null]}')),
    PartCase("none", result(value=None), answered(content="null")),
    PartCase("empty", result(value=""), {"type": "tool_result", "tool_use_id": "toolu_1"}),
    PartCase("blank", result(value=" \n"), answered(content=" \n")),
    PartCase("blank-with-image", result(value=" \n", attachments=(IMAGE,)), answered(content=[IMAGE_BLOCK])),
    PartCase("failed", result(value="no", is_error=True), answered(content="no", is_error=True)),
    PartCase("with-image", result(value="look", attachments=(IMAGE,)), answered(content=[said("look"), IMAGE_BLOCK])),
    PartCase("image-alone", result(value=None, attachments=(IMAGE,)), answered(content=[IMAGE_BLOCK])),
    PartCase("marked", result(cache=CacheMark()), answered(cache_control={"type": "ephemeral"})),
]


@pytest.mark.parametrize("case", RESULTS, ids=attrgetter("id"))
def test_a_tool_result_becomes_its_block(case: PartCase) -> None:
    assert isinstance(case.part, ToolResult)
    body = sent(HI, Message.model(call()), Message.tool(case.part))
    assert body["messages"][2]["content"] == [case.block]


@dataclass(frozen=True)
class ThoughtCase:
    id: str
    thought: Thought
    block: dict[str, Any] | None


THOUGHTS = [
    ThoughtCase("signed", signed("hm"), {"type": "thinking", "thinking": "hm", "signature": "sig=="}),
    ThoughtCase("signed-and-silent", signed(""), {"type": "thinking", "thinking": "", "signature": "sig=="}),
    ThoughtCase(
        "redacted",
        Thought(provider_data=ProviderData(OURS, DATED, {"redacted": "EqkE=="})),
        {"type": "redacted_thinking", "data": "EqkE=="},
    ),
    ThoughtCase("unsigned", Thought("hm"), None),
    ThoughtCase("with-an-empty-signature", signed("hm", signature=""), None),
    ThoughtCase("of-another-model", signed("hm", model="claude-opus-4-5-20251101"), None),
    ThoughtCase("of-another-service", signed("hm", dialect="gemini"), None),
]


@pytest.mark.parametrize("case", THOUGHTS, ids=attrgetter("id"))
def test_thinking_goes_back_verbatim_to_the_model_that_signed_it_and_to_no_other(case: ThoughtCase) -> None:
    body = sent(HI, Message.model(case.thought, Text("so"), call()), Message.tool(result()))
    expected = ([case.block] if case.block else []) + [said("so"), use()]
    assert body["messages"][1]["content"] == expected


def test_an_answer_that_never_got_beyond_thinking_is_left_out() -> None:
    body = sent(HI, Message.model(signed("hm")), Message.user("well?"))
    assert body["messages"] == [{"role": "user", "content": [said("hi"), said("well?")]}]


def test_a_block_of_another_dialect_is_left_out() -> None:
    assert sent(Message.user("hi", Opaque("gemini", "x", {"y": 1})))["messages"][0]["content"] == [said("hi")]


def test_a_paused_answer_goes_back_as_it_came() -> None:
    server_use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    body = sent(HI, Message.model("searching", Opaque(OURS, "server_tool_use", server_use)))
    assert body["messages"][1] == {"role": "assistant", "content": [said("searching"), server_use]}


def test_citations_go_back_with_the_text_they_belong_to() -> None:
    cited = Text("so", provider_data=ProviderData(OURS, DATED, {"citations": [{"type": "char_location"}]}))
    body = sent(HI, Message.model(cited), HI)
    assert body["messages"][1]["content"] == [{**said("so"), "citations": [{"type": "char_location"}]}]


@pytest.mark.parametrize(
    "message",
    [Message.user(InlineData("audio/wav", b"RIFF")), Message.model(IMAGE), Message.user("half a pair: \ud83d")],
    ids=["sound", "image-of-the-model", "broken-unicode"],
)
def test_what_the_api_has_no_place_for_is_refused_before_anything_is_sent(message: Message) -> None:
    capture = Capture()
    provider = stateless("http://example.invalid", transport=capture.transport)
    with pytest.raises(InvalidRequestError):
        provider.complete([message])
    assert capture.requests == []


@pytest.mark.parametrize("where", [{"system_instruction": "\ud83d"}, {"tools": [ToolSchema("a", "\ud83d")]}])
def test_broken_unicode_around_the_conversation_is_refused_too(where: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match="Unicode"):
        sent(HI, **where)


def test_tools_stand_in_the_order_of_their_names_whatever_order_they_came_in() -> None:
    tools = [ToolSchema(name, f"does {name}", {"properties": {"x": {"type": "string"}}}) for name in ("b", "c", "a")]
    assert sent(HI, tools=tools)["tools"] == sent(HI, tools=tools[::-1])["tools"]
    assert sent(HI, tools=tools)["tools"][0] == {
        "name": "a",
        "description": "does a",
        "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}},
    }


def test_marks_on_system_and_tools_become_breakpoints() -> None:
    tools = [ToolSchema("a"), ToolSchema("b", cache=CacheMark("1h"))]
    body = sent(HI, system_instruction=Text("rules", cache=CacheMark()), tools=tools)
    assert body["system"] == [{**said("rules"), "cache_control": {"type": "ephemeral"}}]
    assert body["tools"][1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in body["tools"][0]


def test_marks_on_files_and_calls_become_breakpoints() -> None:
    marked = FunctionCall("toolu_1", "read", {}, cache=CacheMark())
    seen = InlineData(IMAGE.mime_type, IMAGE.data, cache=CacheMark())
    messages = sent(Message.user("see", seen), Message.model(marked), Message.tool(result()))["messages"]
    assert messages[0]["content"][1] == {**IMAGE_BLOCK, "cache_control": {"type": "ephemeral"}}
    assert messages[1]["content"] == [{**use(), "cache_control": {"type": "ephemeral"}}]


@pytest.mark.parametrize("system", [None, "", "  \n", Text("")])
def test_a_blank_system_text_is_not_sent(system: Any) -> None:
    assert "system" not in sent(HI, system_instruction=system)


SCHEMA = {
    "type": "object",
    "properties": {"at": {"type": "object", "properties": {}}, "name": {"type": "string"}},
    "required": ["at"],
}


def test_a_response_schema_leaves_system_and_tools_in_force() -> None:
    body = sent(HI, system_instruction="rules", tools=[ToolSchema("a")], response_schema=SCHEMA)
    assert body["system"]
    assert body["tools"]
    assert body["output_config"]["format"]["type"] == "json_schema"


def test_every_object_of_a_response_schema_is_closed_as_the_api_demands() -> None:
    schema = sent(HI, response_schema=SCHEMA)["output_config"]["format"]["schema"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["at"]["additionalProperties"] is False
    assert schema["properties"]["name"] == {"type": "string"}
    assert "additionalProperties" not in SCHEMA


@pytest.mark.parametrize(
    ("options", "thinking", "room"),
    [
        ({}, None, 8192),
        ({"max_tokens": 50}, None, 50),
        ({"thinking": {"budget_tokens": 2000}}, {"budget_tokens": 2000, "type": "enabled"}, 8192),
        ({"thinking": {"budget_tokens": 2000}, "max_tokens": 2000}, {"budget_tokens": 2000, "type": "enabled"}, 4000),
        ({"thinking": {"type": "adaptive"}}, {"type": "adaptive"}, 8192),
        ({"thinking": {"type": "disabled"}}, None, 8192),
    ],
)
def test_there_is_always_more_room_than_the_thinking_budget(options: Any, thinking: Any, room: int) -> None:
    body = sent(HI, options=options)
    assert body.get("thinking") == thinking
    assert body["max_tokens"] == room


def test_a_model_that_takes_no_budget_is_asked_to_think_as_it_sees_fit() -> None:
    body = sent(HI, model="claude-opus-5", options={"thinking": {"budget_tokens": 2000}})
    assert body["thinking"] == {"type": "adaptive"}


@pytest.mark.parametrize("config", [{"budget_tokens": 10}, {"budget_tokens": "many"}, {"type": "hard"}])
def test_a_thinking_configuration_that_means_nothing_is_refused_when_it_is_set(config: Any) -> None:
    with pytest.raises(UsageError, match="thinking"):
        stateless("http://example.invalid", thinking=config)


THINKING = {"thinking": {"budget_tokens": 2000}}


def test_a_tool_loop_that_began_without_thinking_goes_on_without() -> None:
    loop = (HI, Message.model(call()), Message.tool(result()))
    assert "thinking" not in sent(*loop, options=THINKING)
    assert "thinking" in sent(*loop, Message.model("done"), Message.user("next"), options=THINKING)
    assert "thinking" in sent(*loop, options={"thinking": {"type": "adaptive"}}, model="claude-opus-4-6")


def test_a_tool_loop_that_began_with_thinking_goes_on_with_it() -> None:
    loop = (HI, Message.model(signed("hm"), call("a")), Message.tool(result("a")))
    longer = (*loop, Message.model(call("b")), Message.tool(result("b")))
    assert "thinking" in sent(*loop, options=THINKING)
    assert "thinking" in sent(*longer, options=THINKING)
