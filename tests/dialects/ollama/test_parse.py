"""Requests to Ollama's two surfaces in neutral form: the same conversation reads the same, however it is spelled."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.base import Call
from turnproof.dialects.ollama import DIALECT
from turnproof.dialects.ollama.surfaces import OllamaCall, Surface
from turnproof.dialects.pictures import UNNAMED_IMAGE
from turnproof.messages import FunctionCall, InlineData, Message, Text, Thought, ToolResult, ToolSchema

from ..anthropic_messages.asks import Ask
from ..anthropic_messages.builders import OPENING, TOOL, assistant, call, image, result, thinking, user
from ..requests import Json
from .refusals import FUNCTION, MODEL, QUESTION, anthropic, chat, generate, native_call, shown, world


def parsed(sendable: Ask) -> OllamaCall:
    found = DIALECT.parse(sendable.request(), world())
    assert isinstance(found, OllamaCall), found
    return found


def roles_and_parts(call: Call) -> list[tuple[str, tuple[Any, ...]]]:
    return [(message.role, message.parts) for message in call.messages]


def answer(content: str | None, **more: Any) -> Json:
    return {"role": "tool", "content": content, **more}


CALLED = native_call({"bed": "3"}, id="call_1")
LOOP = (QUESTION, CALLED, answer("41 %", tool_name="read_sensor", tool_call_id="call_1"))
MESSAGES = [
    ("user", (Text("How moist is bed 3?"),)),
    ("model", (FunctionCall("call_1", "read_sensor", {"bed": "3"}),)),
    ("tool", (ToolResult("call_1", "read_sensor", "41 %"),)),
]


def test_a_tool_loop_reads_alike_on_both_doors() -> None:
    native = parsed(chat({"role": "system", "content": "Be brief."}, *LOOP, tools=[FUNCTION]))
    anthropics = parsed(anthropic(OPENING, assistant(call()), user(result()), system="Be brief.", tools=[TOOL]))
    for each in (native, anthropics):
        assert roles_and_parts(each) == MESSAGES
        assert each.system == (Text("Be brief."),)
        assert each.tools == (ToolSchema("read_sensor", "Read one sensor", {"type": "object"}),)
    assert (native.surface, native.verb) == (Surface.NATIVE, "chat")
    assert (anthropics.surface, anthropics.verb) == (Surface.MESSAGES, "messages")
    assert DIALECT.match_form(native) == DIALECT.match_form(anthropics)


@pytest.mark.parametrize(
    ("sendable", "stream"),
    [
        (chat(), True), (chat(stream=True), True), (chat(stream=None), True), (chat(stream=False), False),
        (generate(), True), (generate(stream=False), False), (anthropic(), False), (anthropic(stream=True), True),
    ],
)  # fmt: skip
def test_the_native_api_streams_unless_told_not_to(sendable: Ask, stream: bool) -> None:
    assert parsed(sendable).stream is stream


def test_a_message_of_the_model_tells_thinking_then_text_then_calls() -> None:
    message = {"role": "assistant", "tool_calls": CALLED["tool_calls"], "content": "Let me look.", "thinking": "Hm."}
    assert roles_and_parts(parsed(chat(QUESTION, message)))[1] == (
        "model", (Thought("Hm."), Text("Let me look."), FunctionCall("call_1", "read_sensor", {"bed": "3"})),
    )  # fmt: skip


def test_thinking_in_the_format_of_anthropic_belongs_to_this_service_and_has_no_signature_of_its_own() -> None:
    unsigned, signed = (
        parsed(anthropic(OPENING, assistant(thinking("Hm.", mark), "Yes."))) for mark in (None, "forged")
    )
    assert roles_and_parts(unsigned)[1] == ("model", (Thought("Hm."), Text("Yes.")))
    data = signed.messages[1].parts[0].provider_data
    assert data is not None
    assert data.dialect == "ollama"


@pytest.mark.parametrize(
    ("answers", "linked"),
    [
        pytest.param([{}, {}], ["#1.0", "#1.1"], id="in order"),
        pytest.param([{"tool_name": "water"}, {"tool_name": "read_sensor"}], ["#1.1", "#1.0"], id="by tool"),
        pytest.param([{"tool_name": "no such"}, {}], ["#1.0", "#1.1"], id="an unknown tool is the first open one"),
        pytest.param([{}, {}, {}], ["#1.0", "#1.1", ""], id="one too many"),
    ],
)
def test_without_ids_results_are_paired_by_tool_and_order(answers: list[Json], linked: list[str]) -> None:
    calls: list[Json] = [{"function": {"name": name, "arguments": {}}} for name in ("read_sensor", "water")]
    read = parsed(
        chat(QUESTION, {"role": "assistant", "tool_calls": calls}, *(answer("x", **each) for each in answers))
    )
    (message,) = read.messages[2:]
    assert [part.call_id for part in message.results] == linked
    assert [part.id for part in read.messages[1].calls] == ["#1.0", "#1.1"]
    assert all(DIALECT.is_positional(part.id) for part in read.messages[1].calls)
    assert not DIALECT.is_positional("call_1")


def test_a_result_without_an_id_answers_a_call_that_has_one() -> None:
    calls = [{"id": name, "function": {"name": "read_sensor"}} for name in ("a", "b")]
    read = parsed(chat({"role": "assistant", "tool_calls": calls}, answer("2", tool_call_id="b"), answer("1")))
    assert [(part.call_id, part.name) for part in read.messages[1].results] == [
        ("b", "read_sensor"),
        ("a", "read_sensor"),
    ]


def test_a_result_after_another_message_of_the_model_answers_no_older_call() -> None:
    read = parsed(chat(QUESTION, CALLED, {"role": "assistant", "content": "Well."}, answer("41 %")))
    assert read.messages[-1].results == (ToolResult("", "", "41 %"),)


def test_calls_in_a_message_each_are_those_of_one_answer() -> None:
    calls = [native_call({"bed": bed}) for bed in "34"]
    read = parsed(chat(QUESTION, *calls, answer("41 %"), answer("12 %")))
    assert [part.call_id for part in read.messages[-1].results] == ["#1.0", "#2.0"]


def test_images_are_bytes_without_a_type() -> None:
    picture = {**QUESTION, "images": ["iVBORw0KGgo="]}
    assert roles_and_parts(parsed(chat(picture)))[0][1][1] == InlineData(UNNAMED_IMAGE, b"\x89PNG\r\n\x1a\n")
    parsed_call = parsed(
        anthropic(user("?", image({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="})))
    )
    assert roles_and_parts(parsed_call)[0][1][1] == InlineData("image/png", b"\x89PNG\r\n\x1a\n")
    seen = parsed(chat(QUESTION, CALLED, answer("Look.", images=["iVBORw0KGgo="])))
    assert seen.messages[2].results[0].attachments == (InlineData(UNNAMED_IMAGE, b"\x89PNG\r\n\x1a\n"),)


def test_instructions_in_mid_conversation_stay_in_their_place() -> None:
    read = parsed(chat({"role": "system", "content": "A"}, QUESTION, {"role": "system", "content": "B"}, QUESTION))
    assert read.system == (Text("A"),)
    assert [message.role for message in read.messages] == ["user", "system", "user"]


def test_a_prompt_is_a_conversation_of_one_message() -> None:
    read = parsed(generate("Hello", system="Be brief.", images=["iVBORw0KGgo="], options={"num_ctx": 9}))
    assert read.system == (Text("Be brief."),)
    assert roles_and_parts(read) == [("user", (Text("Hello"), InlineData(UNNAMED_IMAGE, b"\x89PNG\r\n\x1a\n")))]
    assert read.settings == {"options": {"num_ctx": 9}}
    assert parsed(generate("")).messages == ()


def test_what_stands_beside_the_conversation_is_a_setting() -> None:
    schema = {"type": "object"}
    request = chat(format=schema, think="high", keep_alive="5m", options={"temperature": 0})
    assert parsed(request).settings == {
        "format": schema, "think": "high", "keep_alive": "5m", "options": {"temperature": 0},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "operation", "verb"),
    [
        ("GET", "/api/tags", "list_models", "tags"), ("GET", "/v1/models", "list_models", "models"),
        ("GET", "/api/ps", "other", "ps"), ("GET", "/api/version", "other", "version"), ("GET", "/", "other", "home"),
    ],
)  # fmt: skip
def test_each_address_has_its_operation(method: str, path: str, operation: str, verb: str) -> None:
    read = parsed(Ask(path=path, method=method))
    assert (read.operation, read.verb) == (operation, verb)


def test_a_model_is_shown_by_either_of_two_fields() -> None:
    for request in (shown(MODEL), Ask({"name": MODEL}, "/api/show")):
        read = parsed(request)
        assert (read.operation, read.model) == ("get_model", MODEL)


@pytest.mark.parametrize("nested", ["[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000])
def test_a_body_that_is_nested_too_deeply_is_refused_and_not_raised(nested: str) -> None:
    raw = b'{"model":"qwen3:8b","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"x","arguments":{"a":'
    body = raw + nested.encode() + b"}}}]}]}"
    refusal = DIALECT.parse(Ask(path="/api/chat", raw=body).request(), world())
    assert not isinstance(refusal, Call)
    assert refusal.status == 400


def test_a_plain_call_counts_as_one_to_the_door_of_anthropic() -> None:
    plain = Call("generate", MODEL, messages=(Message.user("Hi"),))
    assert OllamaCall.from_call(plain).surface is Surface.MESSAGES
    assert OllamaCall.from_call(parsed(chat())).surface is Surface.NATIVE
