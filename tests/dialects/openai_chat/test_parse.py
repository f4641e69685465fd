"""What a request of the chat completions API says, read from its bytes alone."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, Refusal
from turnproof.dialects.openai_chat import DIALECT, SURFACES
from turnproof.dialects.openai_chat.surfaces import ChatCall, Surface
from turnproof.errors import BindingError
from turnproof.messages import FileRef, FunctionCall, InlineData, Message, Opaque, Text, Thought, ToolResult, thaw

from .asks import MODELS, Ask, ask, loop, world
from .builders import OPENING, PNG, assistant, call, image, result, system, tool, user


def parsed(sendable: Ask) -> ChatCall:
    found = SURFACES[sendable.surface].parse(sendable.request(), world())
    assert isinstance(found, ChatCall), found
    return found


def message(wire: Any, *before: Any) -> Message:
    """The last neutral message of a conversation that ends with this wire message."""
    return parsed(ask(*before, wire)).messages[-1]


# -- which surface


@pytest.mark.parametrize(
    ("path", "named", "surface", "operation"),
    [
        ("/v1/chat/completions", "openai", "openai", "generate"),
        ("/v1/chat/completions", "ollama", "ollama", "generate"),
        ("/v1/chat/completions", "azure", "openai", "generate"),
        ("/v1/chat/completions/", "openai", "openai", "generate"),
        ("/openai/deployments/mine/chat/completions", "openai", "azure", "generate"),
        ("/models/chat/completions", "openai", "azure", "generate"),
        ("/inference/chat/completions", "openai", "github", "generate"),
        ("/orgs/garden/inference/chat/completions", "openai", "github", "generate"),
        ("/chat/completions", "openai", "copilot", "generate"), ("/chat/completions", "github", "github", "generate"),
        ("/api/paas/v4/chat/completions", "openai", "zai", "generate"),
        ("/api/coding/paas/v4/chat/completions", "openai", "zai", "generate"),
    ],
)  # fmt: skip
def test_the_address_tells_the_surface_and_where_it_does_not_the_name(
    path: str, named: str, surface: str, operation: str
) -> None:
    body = msgspec.json.encode({"model": "m", "messages": [OPENING]})
    found = SURFACES[named].parse(HttpRequest("POST", path, {}, {}, body), world())
    assert isinstance(found, ChatCall)
    assert (found.surface, found.operation) == (surface, operation)


@pytest.mark.parametrize(
    ("path", "operation", "surface"),
    [
        ("/v1/models", "list_models", "openai"),
        ("/v1/models/gpt-4o", "get_model", "openai"),
        ("/catalog/models", "list_models", "github"),
        ("/models", "list_models", "copilot"),
        ("/copilot_internal/v2/token", "authenticate", "copilot"),
    ],
)
def test_what_is_asked_without_a_body(path: str, operation: str, surface: str) -> None:
    found = DIALECT.parse(HttpRequest("GET", path, {}, {}, b""), world())
    assert isinstance(found, ChatCall)
    assert (found.operation, found.surface) == (operation, surface)
    assert found.model == ("gpt-4o" if operation == "get_model" else None)


def test_a_deployment_is_the_model_whatever_the_body_says() -> None:
    request = Ask({"model": "other", "messages": [OPENING]}, path="/openai/deployments/mine/chat/completions")
    assert parsed(request).model == "mine"


def test_a_dialect_is_asked_for_at_a_surface() -> None:
    assert dialect("openai-chat") is dialect("openai-chat@openai")
    assert [dialect(f"openai-chat@{surface}").name for surface in ("ollama", "zai")] == [
        "openai-chat@ollama",
        "openai-chat@zai",
    ]
    with pytest.raises(BindingError, match=r"unknown surface 'mars' of 'openai-chat'; known: openai, azure, .*ollama"):
        dialect("openai-chat@mars")
    with pytest.raises(BindingError, match=r"unknown surface 'vertex' of 'gemini'; known: gemini-cli"):
        dialect("gemini@vertex")
    with pytest.raises(BindingError, match=r"unknown dialect 'openai@azure'"):
        dialect("openai@azure")


@pytest.mark.parametrize("surface", list(Surface))
def test_the_name_of_a_surface_finds_it_again(surface: Surface) -> None:
    assert dialect(SURFACES[surface].name) is SURFACES[surface]


# -- instructions


def test_instructions_in_front_are_the_system_text_under_either_role() -> None:
    found = parsed(ask(system("Be brief."), system("Be kind.", "developer"), OPENING))
    assert found.system == (Text("Be brief."), Text("Be kind."))
    assert [each.role for each in found.messages] == ["user"]


def test_instructions_in_blocks_are_one_text() -> None:
    found = parsed(
        ask({"role": "system", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind"}]})
    )
    assert found.system == (Text("Be kind"),)


def test_a_later_instruction_stays_in_its_place() -> None:
    found = parsed(ask(OPENING, assistant("41 %"), system("Be brief.", "developer"), OPENING))
    assert [each.role for each in found.messages] == ["user", "model", "system", "user"]
    assert found.system == ()


# -- content


def test_content_is_a_string_or_blocks() -> None:
    assert message(user("How moist?")).parts == (Text("How moist?"),)
    assert message(user([{"type": "text", "text": "How "}, {"type": "text", "text": "moist?"}])).parts == (
        Text("How "),
        Text("moist?"),
    )


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (image(PNG), InlineData("image/png", b"\x89PNG\r\n\x1a\n")),
        (image("https://garden.example/bed.png"), FileRef("image/*", "https://garden.example/bed.png")),
        ({"type": "input_audio", "input_audio": {"data": "AAE=", "format": "wav"}}, InlineData("audio/wav", b"\0\x01")),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"}},
            InlineData("application/pdf", b"%PDF"),
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, FileRef("application/octet-stream", "file-1")),
    ],
)
def test_media_are_bytes_or_addresses(block: Any, part: Any) -> None:
    assert message(user([block])).parts == (part,)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "hologram", "depth": 3},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,!!"}},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
        {"type": "text", "text": 4},
    ],
)
def test_a_block_that_cannot_be_read_is_kept_as_it_is(block: Any) -> None:
    (part,) = message(user([block])).parts
    assert isinstance(part, Opaque)
    assert thaw(part.data) == block


def test_a_breakpoint_is_a_mark_on_its_part() -> None:
    (part,) = message(user([{"type": "text", "text": "Hi", "prompt_cache_breakpoint": {"mode": "explicit"}}])).parts
    assert part.cache is not None


# -- calls and results


def test_a_message_of_the_model_is_thinking_then_text_then_calls() -> None:
    found = message(assistant("Let me look.", call(), reasoning_content="Bed 3."), OPENING)
    assert found.parts == (Thought("Bed 3."), Text("Let me look."), FunctionCall("call_1", "read_sensor", {"bed": "3"}))


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "reasoning_text"])
def test_thinking_is_read_once_from_whichever_field_it_stands_in(field: str) -> None:
    both = {field: "Bed 3.", "reasoning_content": "Bed 3."}
    assert message(assistant("41 %", **both), OPENING).parts == (Thought("Bed 3."), Text("41 %"))


@pytest.mark.parametrize("arguments", ['{"bed": ', "[1]", "3", "nonsense", '{"n": ' + "[" * 200 + "]" * 200 + "}"])
def test_arguments_that_are_no_object_stay_beside_the_call(arguments: str) -> None:
    (part,) = message(assistant(None, call(arguments=arguments)), OPENING).parts
    assert isinstance(part, FunctionCall)
    assert thaw(part.args) == {}
    assert part.provider_data is not None
    assert part.provider_data.data["arguments"] == arguments


@pytest.mark.parametrize("arguments", ["", "  ", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    (part,) = message(assistant(None, call(arguments=arguments)), OPENING).parts
    assert part == FunctionCall("call_1", "read_sensor", {})


def test_results_of_one_message_are_one_neutral_message_with_the_names_of_their_calls() -> None:
    found = parsed(
        ask(OPENING, assistant(None, call("a"), call("b", "water")), result("b", "done"), result("a"), user("And?"))
    ).messages
    assert [each.role for each in found] == ["user", "model", "tool", "user"]
    assert found[2].parts == (ToolResult("b", "water", "done"), ToolResult("a", "read_sensor", "41 %"))


def test_images_in_a_result_are_attached_to_it() -> None:
    content = [{"type": "text", "text": "See "}, image(PNG), {"type": "text", "text": "this."}]
    (part,) = parsed(loop(result(content=content))).messages[-1].parts
    assert isinstance(part, ToolResult)
    assert part.result == "See this."
    assert part.attachments == (InlineData("image/png", b"\x89PNG\r\n\x1a\n"),)


def test_a_call_of_the_old_kind_is_paired_by_its_place() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "read_sensor", "arguments": "{}"}}
    answer = {"role": "function", "name": "read_sensor", "content": "41 %"}
    found = parsed(ask(OPENING, old, answer)).messages
    (first_call,) = found[1].calls
    assert DIALECT.is_positional(first_call.id)
    assert not DIALECT.is_positional("call_1")
    assert found[2].parts == (ToolResult(first_call.id, "read_sensor", "41 %"),)


def test_a_call_that_is_no_function_is_kept_as_it_is() -> None:
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    (part,) = message(assistant(None, custom), OPENING).parts
    assert isinstance(part, Opaque)
    assert thaw(part.data) == custom


# -- beside the conversation


def test_tools_of_both_kinds_are_schemas() -> None:
    found = parsed(ask(tools=[tool()], functions=[tool("water")["function"]])).tools
    assert [(each.name, each.description) for each in found] == [
        ("read_sensor", "Read one sensor"),
        ("water", "Read one sensor"),
    ]
    assert thaw(found[0].parameters)["properties"] == {"bed": {"type": "string"}}


def test_a_tool_that_is_no_function_is_all_of_its_definition() -> None:
    custom = {"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}
    (found,) = parsed(ask(tools=[custom])).tools
    assert (found.name, found.description, thaw(found.parameters)) == ("custom", "", custom)
    assert (
        DIALECT.differences([Message.user("How moist is bed 3?")], None, [], parsed(ask(tools=[custom])), "gpt-4o")
        == []
    )


def test_a_refusal_sent_back_is_a_text_that_knows_it() -> None:
    block = {"type": "refusal", "refusal": "I will not."}
    for wire in (assistant([block]), assistant(None, refusal="I will not.")):
        (part,) = message(wire, OPENING).parts
        assert isinstance(part, Text)
        assert part.text == "I will not."
        assert part.provider_data is not None
        assert thaw(part.provider_data.data) == {"refusal": True}


def test_a_schema_that_no_session_can_hold_is_refused() -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    sendable = ask(tools=[tool(parameters={"default": deep})])
    refusal = DIALECT.parse(sendable.request(), world())
    assert isinstance(refusal, Refusal)
    assert "nested deeper" in refusal.message


def test_settings_are_what_is_no_conversation() -> None:
    found = parsed(ask(temperature=0.5, stream=True, tools=[tool()]))
    assert found.settings == {"temperature": 0.5}
    assert found.stream


def test_a_stream_is_asked_for_by_true_alone() -> None:
    assert not parsed(ask(stream=None)).stream
    assert not parsed(ask()).stream


@pytest.mark.parametrize("data", [b"", b"null", b"{", b'"text"', b"\xff", b'{"model": "m", "messages": 3}'])
def test_reading_never_raises(data: bytes) -> None:
    assert isinstance(DIALECT.parse(Ask(raw=data).request(), world()), Refusal)


def test_what_two_requests_share_does_not_depend_on_their_spelling() -> None:
    first = ask(system("Be brief."), OPENING, assistant("41 %", reasoning_content="Hm."), OPENING, temperature=0.1)
    blocks = user([{"type": "text", "text": OPENING["content"]}])
    second = ask(system("Be brief.", "developer"), blocks, assistant("41 %"), OPENING)
    assert form(first) == form(second)
    assert form(first) != form(ask(OPENING))


def form(request: Ask) -> Any:
    found: Call = parsed(request)
    return DIALECT.match_form(found)


# -- what no client ought to send

FULL: Any = {
    "model": "gpt-4o",
    "stream": True,
    "stream_options": {"include_usage": True},
    "temperature": 0.5,
    "max_completion_tokens": 100,
    "tools": [tool(strict=False)],
    "tool_choice": {"type": "function", "function": {"name": "read_sensor"}},
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "a", "strict": True, "schema": {"type": "string"}},
    },
    "prompt_cache_options": {"mode": "implicit"},
    "messages": [
        system("Be brief."),
        user([{"type": "text", "text": "Hi"}, image(PNG), {"type": "file", "file": {"file_id": "f"}}]),
        assistant("Let me look.", call(), refusal=None, reasoning_content="Hm."),
        result(content=[{"type": "text", "text": "41 %"}]),
        OPENING,
    ],
}


def places(value: Any, *at: str | int) -> Iterator[tuple[str | int, ...]]:
    """The path of every value in a JSON value, itself left out."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*at, key)
        yield from places(inner, *at, key)


def damaged(value: Any, place: tuple[str | int, ...], other: Any) -> Any:
    """A copy with another value in one place."""
    copy = deepcopy(value)
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = other
    return copy


@pytest.mark.parametrize("surface", list(Surface))
@pytest.mark.parametrize(
    "other",
    [None, 5, "x", [None], {"a": 1}, True, []],
    ids=["null", "number", "text", "list", "object", "yes", "empty"],
)
def test_any_value_in_place_of_any_other_is_taken_or_refused(other: Any, surface: Surface) -> None:
    dialect_, seen = SURFACES[surface], world()
    for place in places(FULL):
        sendable = Ask(damaged(FULL | {"model": MODELS[surface]}, place, other), surface=surface)
        request = sendable.request()
        found = dialect_.parse(request, seen)
        if isinstance(found, Refusal):
            assert 400 <= found.status < 500, place
            assert dialect_.render_refusal(found, "seed").events
            continue
        if all(400 <= each.status < 500 for each in dialect_.validate(request, found, seen) if each.enforced):
            dialect_.differences([Message.user("Hi")], "Be brief.", [], found, "gpt-4o")
            dialect_.count(found)
            dialect_.match_form(found)
