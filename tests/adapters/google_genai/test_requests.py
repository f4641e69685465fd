"""What goes over the wire for each kind of message, part and setting."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import InvalidRequestError, UsageError
from turnproof_adapters.google_genai.arrange import contents
from turnproof_adapters.google_genai.convert import NO_SIGNATURE_NEEDED
from turnproof_adapters.google_genai.models import target

from ..callback_recorder import CallbackRecorder
from .histories import FIRST, LAST, arbitrary, issued
from .kit import MARK, MODEL, SIGNATURE, Capture, stateless

OLD = "gemini-2.5-flash"
FOREIGN = m.ProviderData("anthropic-messages", "claude-sonnet-4-5", {"signature": "s=="})


def sent(*messages: m.Message, model: str = MODEL) -> list[dict[str, Any]]:
    """The contents of a request."""
    capture = Capture()
    stateless(model=model, transport=capture.transport).complete(messages)
    found: list[dict[str, Any]] = capture.body["contents"]
    return found


def parts_of(*parts: m.Part, role: str = "model", model: str = MODEL) -> list[dict[str, Any]]:
    """What becomes of the parts of one message, said between two others."""
    message = m.Message("model" if role == "model" else "user", parts)
    found = sent(m.Message.user("first"), message, m.Message.user("last"), model=model)
    return list(found[1]["parts"]) if len(found) > 2 else []


def request_body(**kwargs: Any) -> dict[str, Any]:
    """A whole request body around one word."""
    options = {name: kwargs.pop(name) for name in ("thinking", "max_tokens") if name in kwargs}
    capture = Capture()
    stateless(transport=capture.transport, **options).complete([m.Message.user("hi")], **kwargs)
    body: dict[str, Any] = capture.body
    return body


def test_the_smallest_request_is_its_contents() -> None:
    assert request_body() == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@pytest.mark.parametrize(("streamed", "method"), [(False, "generateContent"), (True, "streamGenerateContent?alt=sse")])
def test_address_and_headers_are_the_sdks(streamed: bool, method: str) -> None:
    capture = Capture()
    provider = stateless("http://example.invalid/prefix/", transport=capture.transport)
    provider.complete([m.Message.user("hi")], **(CallbackRecorder().callbacks if streamed else {}))
    (request,) = capture.requests
    assert str(request.url).startswith("http://example.invalid/prefix/v1")
    assert str(request.url).endswith(f"/models/{MODEL}:{method}")
    assert request.headers["x-goog-api-key"]
    assert "google-genai-sdk/" in request.headers["x-goog-api-client"]
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-length"] == str(len(request.content))


def test_every_user_part_has_its_form() -> None:
    parts = (m.Text("look"), m.InlineData("image/png", b"\xfb\xff"), m.FileRef("application/pdf", "https://x/y.pdf"))
    assert parts_of(*parts, role="user") == [
        {"text": "look"},
        {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x/y.pdf"}},
    ]


def test_instructions_in_mid_conversation_are_told_as_the_users() -> None:
    assert sent(m.Message.user("hi"), m.Message.model("yes"), m.Message.system("be brief"))[2] == {
        "role": "user",
        "parts": [{"text": "be brief"}],
    }


def test_empty_messages_leave_no_empty_parts_behind() -> None:
    """An empty `parts` is refused: `contents.parts must not be empty`."""
    history = [m.Message.user(""), m.Message.model(), m.Message.model(""), m.Message.tool(), m.Message.user("hi")]
    assert sent(*history) == [{"role": "user", "parts": [{"text": "hi"}]}]


def test_blank_text_is_text() -> None:
    assert parts_of(m.Text(" \n")) == [{"text": " \n"}]


def test_an_empty_text_that_carries_a_signature_is_kept() -> None:
    """Recorded: the end of a stream, whose signature belongs in a part of its own."""
    assert parts_of(m.Text("done"), m.Text("", provider_data=issued())) == [
        {"text": "done"},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]


def test_a_signature_goes_back_in_the_part_it_came_with_and_in_no_other() -> None:
    parts = parts_of(
        m.Thought("hm", provider_data=issued(signature="AAAA")),
        m.Text("a"),
        m.Text("b", provider_data=issued(signature="BBBB")),
        m.FunctionCall("1", "f", {}, provider_data=issued(signature="CCCC")),
        m.FunctionCall("2", "g", {}),
        m.InlineData("image/png", b"", provider_data=issued(signature="DDDD")),
    )
    assert [part.get("thoughtSignature") for part in parts] == ["AAAA", None, "BBBB", "CCCC", None, "DDDD"]
    assert parts[0] == {"text": "hm", "thought": True, "thoughtSignature": "AAAA"}


@pytest.mark.parametrize("origin", [None, FOREIGN, issued("gemini-3.1-pro-preview")], ids=["none", "other", "sibling"])
def test_a_call_without_a_signature_of_this_model_gets_the_documented_stand_in(origin: m.ProviderData | None) -> None:
    calls = (
        m.FunctionCall("a", "f", {}, provider_data=origin),
        m.FunctionCall("b", "f", {}, provider_data=origin),
    )
    parts = parts_of(*calls)
    assert [part.get("thoughtSignature") for part in parts] == [NO_SIGNATURE_NEEDED, None]
    assert b64decode(NO_SIGNATURE_NEEDED) == b"skip_thought_signature_validator"
    assert [part.get("thoughtSignature") for part in parts_of(*calls, model=OLD)] == [None, None]


def test_the_first_call_of_each_step_is_looked_after() -> None:
    history = [m.Message.user("go")]
    for name in "ab":
        history += [m.Message.model(m.FunctionCall(name, "f", {})), m.Message.tool(m.ToolResult(name, "f", 1))]
    found = sent(*history)
    assert [content["parts"][0].get("thoughtSignature") for content in found if content["role"] == "model"] == [
        NO_SIGNATURE_NEEDED,
        NO_SIGNATURE_NEEDED,
    ]


@pytest.mark.parametrize("name", ["models/gemini-3-flash-preview", "publishers/google/models/gemini-3-flash-preview"])
def test_a_model_is_the_same_by_its_full_name(name: str) -> None:
    (part,) = parts_of(m.FunctionCall("a", "f", {}, provider_data=issued(name)))
    assert part["thoughtSignature"] == SIGNATURE


def test_thoughts_of_others_are_left_out_and_our_own_are_marked() -> None:
    assert parts_of(
        m.Thought("foreign", provider_data=FOREIGN),
        m.Thought("nobody's"),
        m.Thought("ours", provider_data=MARK),
        m.Text("so"),
    ) == [
        {"text": "ours", "thought": True},
        {"text": "so"},
    ]


def test_a_thought_without_words_is_kept_for_its_signature_only() -> None:
    assert parts_of(m.Thought(""), m.Thought("", provider_data=issued()), m.Text("so")) == [
        {"text": "", "thought": True, "thoughtSignature": SIGNATURE},
        {"text": "so"},
    ]


def test_an_answer_that_never_got_beyond_thinking_is_left_out() -> None:
    assert sent(m.Message.user("a"), m.Message.model(m.Thought("hm")), m.Message.user("b")) == [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "user", "parts": [{"text": "b"}]},
    ]


def test_code_that_the_api_ran_goes_back_with_its_ids_and_that_of_others_as_text() -> None:
    ours = m.ProviderData("gemini", MODEL, {"id": "x"})
    assert parts_of(
        m.ExecutableCode("PYTHON", "1+1", provider_data=ours),
        m.CodeExecutionResult("OUTCOME_OK", "2", provider_data=ours),
        m.ExecutableCode("Python", "1+1"),
        m.CodeExecutionResult("ok", "2", provider_data=FOREIGN),
    ) == [
        {"executableCode": {"language": "PYTHON", "code": "1+1", "id": "x"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2", "id": "x"}},
        {"text": "```python\n1+1\n```"},
        {"text": "```\n2\n```"},
    ]


def test_a_part_that_nothing_names_goes_back_verbatim_to_its_own_api_only() -> None:
    data = {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB"}}
    ours = m.Opaque("gemini", "toolCall", data, provider_data=issued())
    assert parts_of(ours, m.Opaque("anthropic-messages", "x", {"type": "x"})) == [
        {**data, "thoughtSignature": SIGNATURE}
    ]


# -- results


def answered(result: m.ToolResult, model: str = MODEL) -> list[dict[str, Any]]:
    """The content that answers one call `a`."""
    history = [m.Message.user("go"), m.Message.model(m.FunctionCall("a", "f", {})), m.Message.tool(result)]
    found = sent(*history, model=model)[2]
    assert found["role"] == "user"
    return list(found["parts"])


@pytest.mark.parametrize("value", ["plain ’北", "", 7, None, [1, {"a": None}], {"error": "its own word"}])
def test_a_result_stands_under_output_and_a_failure_under_error(value: Any) -> None:
    for is_error, key in ((False, "output"), (True, "error")):
        (part,) = answered(m.ToolResult("a", "f", value, is_error))
        assert part == {"functionResponse": {"id": "a", "name": "f", "response": {key: value}}}


CALLED = m.Message.model(m.FunctionCall("a", "f", {}))
IMAGE, SOUND = m.InlineData("image/png", b"\x01"), m.InlineData("audio/wav", b"\x02")
PAPER = m.FileRef("application/pdf", "gs://a/b.pdf")
IMAGE_PART, SOUND_PART = (
    {"inlineData": {"mimeType": "image/png", "data": "AQ=="}},
    {"inlineData": {"mimeType": "audio/wav", "data": "Ag=="}},
)
PAPER_PART = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b.pdf"}}


def test_media_stands_in_the_response_where_it_fits_and_beside_it_where_not() -> None:
    response, media_part = answered(m.ToolResult("a", "f", "seen", attachments=(IMAGE, SOUND, PAPER)))
    assert response["functionResponse"]["parts"] == [IMAGE_PART, PAPER_PART]
    assert media_part == SOUND_PART


def test_before_gemini_3_all_media_stands_beside_the_response() -> None:
    response, *media_parts = answered(m.ToolResult("a", "f", "seen", attachments=(IMAGE, SOUND)), model=OLD)
    assert "parts" not in response["functionResponse"]
    assert media_parts == [IMAGE_PART, SOUND_PART]


def test_text_never_stands_among_the_parts_of_a_response() -> None:
    """Refused by the API; a text file is an attachment like any other, beside it."""
    note = m.InlineData("text/plain", b"note")
    response, media_part = answered(m.ToolResult("a", "f", "seen", attachments=(note,)))
    assert "parts" not in response["functionResponse"]
    assert media_part["inlineData"]["mimeType"] == "text/plain"


def test_all_responses_come_first_in_call_order_however_they_were_given() -> None:
    calls = [m.FunctionCall(name, f"tool_{name}", {}) for name in "abc"]
    found = sent(
        m.Message.user("go"),
        m.Message.model("on it", *calls),
        m.Message.user("hurry up"),
        m.Message.tool(m.ToolResult("c", "tool_c", 3), m.ToolResult("a", "tool_a", 1, attachments=(SOUND,))),
        m.Message.tool(m.ToolResult("b", "tool_b", 2)),
    )
    assert [content["role"] for content in found] == ["user", "model", "user", "user"]
    first, media_part, *others = found[2]["parts"]
    responses = [part["functionResponse"] for part in (first, *others)]
    assert [(each["id"], each["response"]["output"]) for each in responses] == [("a", 1), ("b", 2), ("c", 3)]
    assert media_part == SOUND_PART
    assert found[3]["parts"] == [{"text": "hurry up"}]


def test_a_dangling_call_is_answered_and_an_orphan_result_left_out() -> None:
    found = sent(
        m.Message.user("go"),
        m.Message.model(m.FunctionCall("a", "f", {}), m.FunctionCall("b", "g", {})),
        m.Message.tool(m.ToolResult("b", "g", 2), m.ToolResult("z", "h", 9)),
        m.Message.user("and?"),
        m.Message.tool(m.ToolResult("y", "h", 8)),
    )
    first, second = (part["functionResponse"] for part in found[2]["parts"])
    assert first == {"id": "a", "name": "f", "response": {"error": "No result: the call was not carried out."}}
    assert second["response"] == {"output": 2}
    assert found[3:] == [{"role": "user", "parts": [{"text": "and?"}]}]


def test_a_call_that_ends_the_history_is_answered_too() -> None:
    found = sent(m.Message.user("go"), m.Message.model(m.FunctionCall("a", "f", {})))
    assert found[-1]["role"] == "user"
    assert "functionResponse" in found[-1]["parts"][0]


def test_two_model_messages_in_a_row_are_answered_together() -> None:
    """Recorded as accepted: two contents with a call each, then one with both responses."""
    found = sent(
        m.Message.user("go"),
        m.Message.model(m.FunctionCall("a", "f", {})),
        m.Message.model(m.FunctionCall("b", "f", {})),
        m.Message.tool(m.ToolResult("b", "f", 2), m.ToolResult("a", "f", 1)),
    )
    assert [content["role"] for content in found] == ["user", "model", "model", "user"]
    assert [part["functionResponse"]["id"] for part in found[3]["parts"]] == ["a", "b"]


def test_calls_of_one_id_are_answered_one_by_one() -> None:
    found = sent(
        m.Message.user("go"),
        m.Message.model(m.FunctionCall("a", "f", {"n": 1}), m.FunctionCall("a", "f", {"n": 2})),
        m.Message.tool(m.ToolResult("a", "f", "one"), m.ToolResult("a", "f", "two")),
    )
    assert [part["functionResponse"]["response"]["output"] for part in found[2]["parts"]] == ["one", "two"]


@pytest.mark.parametrize(("model", "inside"), [(MODEL, True), (OLD, False)])
def test_a_response_has_the_name_of_the_call_that_it_answers(model: str, inside: bool) -> None:
    response, *media_parts = answered(m.ToolResult("a", "", "yes", attachments=(IMAGE,)), model)
    assert response["functionResponse"]["name"] == "f"
    assert response["functionResponse"].get("parts", []) == ([IMAGE_PART] if inside else [])
    assert media_parts == ([] if inside else [IMAGE_PART])


def test_an_id_that_was_made_up_here_is_not_sent() -> None:
    made_up = "unnamed-0123456789abcdef-0"
    found = sent(
        m.Message.user("go"),
        m.Message.model(m.FunctionCall(made_up, "f", {})),
        m.Message.tool(m.ToolResult(made_up, "f", 1)),
        m.Message.model(m.FunctionCall("toolu_01", "f", {}), m.FunctionCall(made_up, "f", {})),
    )
    assert "id" not in found[1]["parts"][0]["functionCall"]
    assert "id" not in found[2]["parts"][0]["functionResponse"]
    assert found[3]["parts"][0]["functionCall"]["id"] == "toolu_01"
    assert found[4]["parts"][0]["functionResponse"]["id"] == "toolu_01"
    assert "id" not in found[4]["parts"][1]["functionResponse"]


@pytest.mark.parametrize("model", [MODEL, OLD])
def test_any_conversation_becomes_one_that_the_api_takes(model: str) -> None:
    """Every call of a model run is answered right after it, once; nothing else answers; no content is empty."""
    for seed in range(150):
        open_calls: list[str] = []
        for content in contents(arbitrary(seed), target(model)):
            assert content["parts"], seed
            calls = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
            responses = [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part]
            if content["role"] == "model":
                assert not responses, seed
                open_calls += calls
            else:
                assert responses == open_calls, seed
                open_calls = []
        assert not open_calls, seed


@pytest.mark.parametrize("before", [[], [FIRST, m.Message.model("ho")]], ids=["first", "later"])
def test_a_user_who_says_nothing_is_sent_as_an_empty_text(before: list[m.Message]) -> None:
    """Recorded: the API takes it. In the middle of a conversation it is left out."""
    silent = m.Message.user("")
    assert sent(*before, silent)[-1] == {"role": "user", "parts": [{"text": ""}]}
    assert sent(*before, silent, LAST) == sent(*before, LAST)


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        ([], "nothing is said in it"),
        ([FIRST, m.Message.model("ho"), m.Message("user", ())], "what was said last in it are the model's own words"),
        ([FIRST, m.Message.model("ho")], "what was said last in it are the model's own words"),
        ([CALLED, LAST], "it begins with a call of the model's, which may only follow the user's words or a result"),
    ],
)
def test_what_the_api_would_not_answer_is_refused_before_it_is_sent(history: list[m.Message], problem: str) -> None:
    capture = Capture()
    with pytest.raises(InvalidRequestError) as failure:
        stateless(transport=capture.transport).complete(history)
    assert failure.value.message == f"the Gemini API does not answer this conversation: {problem}"
    assert capture.requests == []


# -- what stands around the contents


@pytest.mark.parametrize("instruction", ["be brief", m.Text("be brief"), m.Text("be brief", cache=m.CacheMark())])
def test_system_text_is_sent_as_it_is(instruction: Any) -> None:
    assert request_body(system_instruction=instruction)["systemInstruction"] == {"parts": [{"text": "be brief"}]}


@pytest.mark.parametrize("instruction", [None, "", "  \n", m.Text("")])
def test_no_system_text_is_no_field(instruction: Any) -> None:
    assert "systemInstruction" not in request_body(system_instruction=instruction)


def test_tools_are_declared_by_their_json_schema_in_order_of_name() -> None:
    tools = [
        m.ToolSchema("b", "Second", {"properties": {"x": {"type": "string"}}}),
        m.ToolSchema("a", "", {}),
    ]
    assert request_body(tools=tools)["tools"] == [
        {
            "functionDeclarations": [
                {"name": "a"},
                {
                    "name": "b",
                    "description": "Second",
                    "parametersJsonSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
                },
            ]
        }
    ]
    assert "tools" not in request_body(tools=[])


def test_a_response_schema_leaves_system_and_tools_in_force() -> None:
    schema = {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}
    body = request_body(system_instruction="rules", tools=[m.ToolSchema("a")], response_schema=schema)
    assert body["generationConfig"] == {"responseMimeType": "application/json", "responseJsonSchema": schema}
    assert body["systemInstruction"]
    assert body["tools"]


def test_limits_and_thinking_come_from_the_settings() -> None:
    assert "generationConfig" not in request_body()
    for limit in (1, 100):
        assert request_body(max_tokens=limit)["generationConfig"] == {"maxOutputTokens": limit}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"budget_tokens": 2048}, {"includeThoughts": True, "thinkingBudget": 2048}),
        ({"budget_tokens": 0}, {"thinkingBudget": 0}),
        ({"level": "low"}, {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ({"type": "adaptive"}, {"includeThoughts": True}),
        ({"type": "enabled", "budget_tokens": -1}, {"includeThoughts": True, "thinkingBudget": -1}),
    ],
)
def test_thinking_is_asked_for_in_the_apis_words(config: dict[str, Any], expected: dict[str, Any]) -> None:
    assert request_body(thinking=config)["generationConfig"] == {"thinkingConfig": expected}


@pytest.mark.parametrize("config", [None, {"type": "disabled"}])
def test_thinking_is_left_to_the_model_unless_asked_for(config: Any) -> None:
    assert "generationConfig" not in request_body(thinking=config)


@pytest.mark.parametrize(
    "config",
    [{"budget_tokens": "1"}, {"budget_tokens": -2}, {"budget_tokens": True}, {"type": "sometimes"}, {"budget": 5}],
)
def test_a_thinking_configuration_that_means_nothing_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="thinking"):
        request_body(thinking=config)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "9"])
def test_an_impossible_limit_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="max_tokens"):
        request_body(max_tokens=limit)


NAMED = m.CacheMark(name="cachedContents/7abc")


@pytest.mark.parametrize(
    "marked",
    [
        {"system_instruction": m.Text("rules", cache=NAMED), "tools": [m.ToolSchema("a")]},
        {"system_instruction": "rules", "tools": [m.ToolSchema("a"), m.ToolSchema("b", cache=NAMED)]},
        {"system_instruction": None, "tools": [m.ToolSchema("a", cache=NAMED)]},
    ],
    ids=["system", "tool", "tool-alone"],
)
def test_what_a_managed_cache_holds_is_named_and_not_repeated(marked: dict[str, Any]) -> None:
    """Reported: `CachedContent can not be used with GenerateContent request setting system_instruction, ...`."""
    body = request_body(**marked, max_tokens=9)
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "cachedContent": "cachedContents/7abc",
        "generationConfig": {"maxOutputTokens": 9},
    }


def test_a_mark_without_a_name_names_no_cache() -> None:
    body = request_body(
        system_instruction=m.Text("rules", cache=m.CacheMark()), tools=[m.ToolSchema("a", cache=m.CacheMark("1h"))]
    )
    assert set(body) == {"contents", "systemInstruction", "tools"}


def test_text_that_is_no_unicode_is_refused_before_anything_is_sent() -> None:
    for system in (None, "\ud800"):
        capture = Capture()
        provider = stateless(transport=capture.transport)
        words = "\ud800" if system is None else "hi"
        with pytest.raises(InvalidRequestError, match="Unicode"):
            provider.complete([m.Message.user(words)], system)
        assert capture.requests == []
