"""What leaves the client: the envelope, its headers, and Gemini's request in it, for each family of models."""

from __future__ import annotations

import json
import platform
from typing import Any

import pytest

from turnproof.errors import InvalidRequestError, UsageError
from turnproof.messages import (
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    ProviderData,
    Thought,
    ToolResult,
    ToolSchema,
)
from turnproof_adapters.antigravity import client, request
from turnproof_adapters.google_genai.convert import NO_SIGNATURE_NEEDED

from .kit import (
    CLAUDE,
    GEMINI,
    GPT,
    KEY,
    OLD,
    PATHS,
    PROJECT,
    SIGNATURE,
    STREAMED,
    URL,
    Capture,
    asking,
    issued,
    mark,
    stateless,
)

HI = [Message.user("hi")]
TOOL = ToolSchema("gate", "State of a gate", {"type": "object", "properties": {"gate": {"const": "east"}}})


def sent(messages: list[Message], model: str = GEMINI, **options: Any) -> Any:
    """What stands in the envelope of a request."""
    settings = {name: options.pop(name) for name in ("thinking", "max_tokens") if name in options}
    capture = Capture()
    stateless(model=model, transport=capture.transport, **settings).complete(messages, **options)
    return capture.request


@PATHS
@STREAMED
def test_a_request_stands_in_an_envelope_that_says_who_asks(path: str, streamed: bool) -> None:
    capture = Capture()
    asking(path, streamed=streamed, transport=capture.transport)()
    (wire_request,) = capture.requests
    verb = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    assert (wire_request.method, str(wire_request.url)) == ("POST", f"{URL}/v1internal:{verb}")
    body = capture.body
    assert list(body) == ["project", "model", "userAgent", "requestType", "requestId", "request"]
    assert (body["project"], body["model"], body["userAgent"]) == (PROJECT, GEMINI, "antigravity")
    assert body["requestType"] == "agent"
    assert body["requestId"].startswith("agent-")
    assert body["request"]["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]
    assert list(body["request"]) == ["contents", "sessionId"]


@PATHS
@STREAMED
def test_headers_say_whose_token_it_is_and_which_program_asks(path: str, streamed: bool) -> None:
    capture = Capture()
    asking(path, streamed=streamed, transport=capture.transport)()
    headers = capture.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == client.user_agent()
    assert json.loads(headers["client-metadata"])["ideType"] == "ANTIGRAVITY"
    assert "x-goog-api-client" in headers
    assert headers["accept"] == ("text/event-stream" if streamed else "*/*")


def test_the_program_names_its_version_and_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    for machine, named in (("x86_64", "amd64"), ("riscv64", "riscv64")):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        assert client.user_agent() == f"antigravity/{client.VERSION} linux/{named}"


def test_another_name_of_the_program_can_be_given() -> None:
    capture = Capture()
    asking("stateless", transport=capture.transport, user_agent="antigravity/9.9 plan9/mips")()
    assert capture.requests[0].headers["user-agent"] == "antigravity/9.9 plan9/mips"


def test_both_paths_send_the_same_bytes_but_for_the_way_they_are_written() -> None:
    bodies = []
    for path in ("stateless", "legacy"):
        capture = Capture()
        asking(path, transport=capture.transport, thinking={"budget_tokens": 128}, max_tokens=999)()
        bodies.append(capture.body)
    assert bodies[0] == bodies[1]


def test_ids_depend_on_nothing_but_what_is_asked() -> None:
    ids = []
    for words in ("hi", "hi", "ho"):
        capture = Capture()
        stateless(transport=capture.transport).complete(
            [Message.user("first"), Message.model("ok"), Message.user(words)]
        )
        ids.append((capture.body["requestId"], capture.request["sessionId"]))
    assert ids[0] == ids[1]
    assert ids[0][0] != ids[2][0]
    assert ids[0][1] == ids[2][1], "a session keeps its id while it grows"
    assert 0 < -int(ids[0][1]) < 1 << 63


def test_system_text_and_tools_stand_beside_the_contents() -> None:
    body = sent(HI, system_instruction="You watch a canal.", tools=[TOOL, ToolSchema("a b")])
    assert body["systemInstruction"] == {"parts": [{"text": "You watch a canal."}]}
    ((first, second),) = (tool["functionDeclarations"] for tool in body["tools"])
    assert first["name"].startswith("a_b-x")
    assert second == {"name": "gate", "description": "State of a gate", "parametersJsonSchema": TOOL.parameters}


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_other_models_get_parameters_in_the_dialect_that_they_take(model: str) -> None:
    ((declared,),) = (tool["functionDeclarations"] for tool in sent(HI, model, tools=[TOOL])["tools"])
    assert "parametersJsonSchema" not in declared
    assert declared["parameters"]["properties"] == {"gate": {"type": "string", "enum": ["east"]}}
    ((bare,),) = (tool["functionDeclarations"] for tool in sent(HI, model, tools=[ToolSchema("ping")])["tools"])
    assert bare == {"name": "ping"}


@pytest.mark.parametrize(
    ("model", "settings", "expected"),
    [
        (GEMINI, {}, None),
        (GEMINI, {"max_tokens": 9}, {"maxOutputTokens": 9}),
        (
            GEMINI,
            {"thinking": {"budget_tokens": 64}, "max_tokens": 9},
            {"maxOutputTokens": 9, "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 64}},
        ),
        (GEMINI, {"thinking": {"level": "low"}}, {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}}),
        (
            CLAUDE,
            {"thinking": {"budget_tokens": 1024}},
            {
                "maxOutputTokens": request.ANSWER,
                "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024},
            },
        ),
        (
            CLAUDE,
            {"thinking": {"budget_tokens": 1024}, "max_tokens": 1024},
            {"maxOutputTokens": 2048, "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024}},
        ),
        (
            CLAUDE,
            {"thinking": {"budget_tokens": 1024}, "max_tokens": 1025},
            {"maxOutputTokens": 1025, "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024}},
        ),
        (CLAUDE, {"thinking": {"type": "adaptive"}}, {"thinkingConfig": {"includeThoughts": True}}),
        (CLAUDE, {"max_tokens": 9}, {"maxOutputTokens": 9}),
        (GPT, {"thinking": {"budget_tokens": 1024}}, None),
        ("claude-sonnet-4-5", {"thinking": {"budget_tokens": 1024}}, None),
    ],
)
def test_room_and_thinking_are_asked_for_as_the_model_takes_them(model: str, settings: Any, expected: Any) -> None:
    assert sent(HI, model, **settings).get("generationConfig") == expected


def test_an_answer_in_json_is_asked_for_by_its_schema() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    assert sent(HI, response_schema=schema)["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": schema,
    }


# -- contents

CALLED = FunctionCall("toolu_vrtx_01A", "gate", {"gate": "east"})
ANSWERED = ToolResult("toolu_vrtx_01A", "gate", "shut")


def test_a_call_of_geminis_carries_the_signature_it_was_issued_with_or_a_stand_in() -> None:
    signed = FunctionCall("a", "gate", {}, provider_data=issued())
    foreign = FunctionCall("b", "gate", {}, provider_data=ProviderData("gemini", GEMINI, {"signature": SIGNATURE}))
    contents = sent(
        [
            *HI,
            Message.model(signed),
            Message.tool(ToolResult("a", "gate", 1)),
            Message.model(foreign),
            Message.tool(ToolResult("b", "gate", 2)),
        ]
    )["contents"]
    assert contents[1]["parts"][0]["thoughtSignature"] == SIGNATURE
    assert contents[3]["parts"][0]["thoughtSignature"] == NO_SIGNATURE_NEEDED, "another service's is nothing to it"


@pytest.mark.parametrize("model", [CLAUDE, OLD, GPT])
def test_models_that_demand_no_signature_get_no_stand_in(model: str) -> None:
    contents = sent([*HI, Message.model(CALLED), Message.tool(ANSWERED)], model)["contents"]
    assert contents[1]["parts"] == [
        {"functionCall": {"id": "toolu_vrtx_01A", "name": "gate", "args": {"gate": "east"}}}
    ]


@pytest.mark.parametrize(
    ("thought", "is_kept"),
    [
        (Thought("hm", provider_data=issued(CLAUDE)), True),
        (Thought("", provider_data=issued(CLAUDE)), True),
        (Thought("hm"), False),
        (Thought("hm", provider_data=issued(GEMINI)), False),
        (Thought("hm", provider_data=ProviderData("anthropic-messages", CLAUDE, {"signature": SIGNATURE})), False),
    ],
)
def test_claude_gets_its_own_signed_thoughts_back_and_no_others(thought: Thought, is_kept: bool) -> None:
    contents = sent([*HI, Message.model(thought, CALLED), Message.tool(ANSWERED)], CLAUDE)["contents"]
    first = contents[1]["parts"][0]
    expected = {"text": thought.text, "thought": True, "thoughtSignature": SIGNATURE}
    assert (first == expected) is is_kept
    assert ("functionCall" in first) is not is_kept


@pytest.mark.parametrize("model", [GEMINI, GPT])
def test_others_get_thoughts_without_a_signature_too_but_none_that_another_model_signed(model: str) -> None:
    claudes = Thought("ha", provider_data=issued(CLAUDE))
    contents = sent(
        [*HI, Message.model(Thought("hm", provider_data=mark(model)), Thought("nobody's"), claudes, "ho"), *HI], model
    )["contents"]
    assert contents[1]["parts"] == [{"text": "hm", "thought": True}, {"text": "ho"}]


MADE_UP = "unnamed-0123456789abcdef-0"


def test_claude_pairs_by_ids_whoever_made_them_and_in_letters_that_it_takes() -> None:
    odd = FunctionCall("functions.gate:0", "gate", {})
    contents = sent(
        [
            *HI,
            Message.model(odd, FunctionCall(MADE_UP, "gate", {})),
            Message.tool(ToolResult(MADE_UP, "gate", 2), ToolResult(odd.id, "gate", 1)),
        ],
        CLAUDE,
    )["contents"]
    ids = [part["functionCall"]["id"] for part in contents[1]["parts"]]
    assert ids == [part["functionResponse"]["id"] for part in contents[2]["parts"]]
    assert ids[0].startswith("functions_gate_0-x")
    assert ids[1] == MADE_UP


def test_gemini_sees_no_id_that_was_made_up_here() -> None:
    history = [*HI, Message.model(FunctionCall(MADE_UP, "gate", {})), Message.tool(ToolResult(MADE_UP, "gate", 2))]
    contents = sent(history)["contents"]
    assert "id" not in contents[1]["parts"][0]["functionCall"]
    assert "id" not in contents[2]["parts"][0]["functionResponse"]


def test_nothing_stands_between_the_responses_that_claude_gets() -> None:
    image = InlineData("image/png", b"\x01")
    history = [
        *HI,
        Message.model(CALLED, FunctionCall("b", "gate", {})),
        Message.tool(
            ToolResult("toolu_vrtx_01A", "gate", "shut", attachments=(image,)), ToolResult("b", "gate", "open")
        ),
        Message.user("so?"),
    ]
    kinds = [next(iter(part)) for part in sent(history, CLAUDE)["contents"][2]["parts"]]
    assert kinds == ["functionResponse", "functionResponse", "inlineData"]
    kinds = [next(iter(part)) for part in sent(history, OLD)["contents"][2]["parts"]]
    assert kinds == ["functionResponse", "inlineData", "functionResponse"]
    first = sent(history)["contents"][2]["parts"][0]["functionResponse"]
    assert first["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "AQ=="}}]


def test_what_only_this_service_knows_goes_back_to_it_alone() -> None:
    search = {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB"}}
    history = [*HI, Message.model(Opaque("antigravity", "toolCall", search), Opaque("gemini", "toolCall", search)), *HI]
    assert sent(history)["contents"][1]["parts"] == [search]


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        ([], "nothing is said in it"),
        ([*HI, Message.model("ho")], "what was said last in it are the model's own words"),
        ([Message.model(CALLED), *HI], "it begins with a call of the model's"),
    ],
)
def test_what_nobody_would_answer_is_not_sent(history: list[Message], problem: str) -> None:
    capture = Capture()
    with pytest.raises(InvalidRequestError, match=problem):
        stateless(transport=capture.transport).complete(history)
    assert not capture.requests


def test_thinking_that_no_model_takes_is_refused() -> None:
    with pytest.raises(UsageError, match="thinking"):
        stateless(thinking={"tokens": 5})
