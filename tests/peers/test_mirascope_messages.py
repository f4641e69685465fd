"""Mirascope's messages as calls of its classes: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from turnproof import errors
from turnproof.messages import FunctionCall, Message, ProviderData, Text, Thought, ToolResult, ToolSchema
from turnproof_adapters.peers.mirascope_messages import MirascopeMessages, raw_model_and_finish, tool_parameters

MESSAGES = MirascopeMessages("anthropic-messages", "claude-sonnet-4-6")


class Llm:
    """A stand-in for the library's module: its classes give their names and arguments."""

    def __getattr__(self, name: str) -> object:
        return lambda **arguments: (name, arguments)


def test_a_message_is_made_or_written_as_source() -> None:
    (written,) = MESSAGES.write([Message.user("Dry?")], None)
    assert written.make(Llm()) == ("UserMessage", {"content": [("Text", {"text": "Dry?"})]})
    assert repr(written) == "llm.UserMessage(content=[llm.Text(text='Dry?')])"


def test_instructions_between_messages_are_at_the_end_of_the_system_text() -> None:
    system, _ = MESSAGES.write([Message.user("Dry?"), Message.system("In German.")], "Be brief.")
    assert repr(system) == "llm.SystemMessage(content=llm.Text(text='Be brief.\\n\\nIn German.'))"


def test_a_failed_tool_has_its_error() -> None:
    (written,) = MESSAGES.write([Message.tool(ToolResult("a", "read", {"why": "broken"}, is_error=True))], None)
    output = 'result=\'{"why": "broken"}\', error=llm.ToolExecutionError(tool_exception=\'{"why": "broken"}\')'
    assert output in repr(written)


def test_the_apis_own_message_goes_back_with_its_thought_and_only_to_its_model() -> None:
    raw = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]}
    content = [SimpleNamespace(type="thought", thought="Hm."), SimpleNamespace(type="text", text="Yes.")]
    parts = tuple(MESSAGES.read(SimpleNamespace(raw_message=raw, content=content), cut=False))
    data = ProviderData("anthropic-messages", "claude-sonnet-4-6", {"raw": raw})
    assert parts == (Thought("Hm.", provider_data=data), Text("Yes."))
    (own,) = MESSAGES.write([Message("model", parts)], None)
    assert own.arguments["raw_message"] == raw
    assert own.arguments["model_id"] == "anthropic/claude-sonnet-4-6"
    (other,) = MirascopeMessages("anthropic-messages", "claude-opus-4-5").write([Message("model", parts)], None)
    assert other.arguments["raw_message"] is None


def test_arguments_that_are_no_json_are_an_error_unless_the_answer_was_cut() -> None:
    call = SimpleNamespace(type="tool_call", id="a", name="read", args='{"bed": ')
    answer = SimpleNamespace(raw_message=None, content=[call])
    assert list(MESSAGES.read(answer, cut=True)) == []
    with pytest.raises(errors.TransportError, match="read are no JSON"):
        list(MESSAGES.read(answer, cut=False))
    call.args = '{"bed": 3}'
    assert list(MESSAGES.read(answer, cut=False)) == [FunctionCall("a", "read", {"bed": 3})]


def test_model_and_finish_word_are_those_of_the_sdks_objects() -> None:
    whole = SimpleNamespace(raw=SimpleNamespace(model="m-1", stop_reason="end_turn"))
    assert raw_model_and_finish(whole) == ("m-1", "end_turn")
    head = SimpleNamespace(message=SimpleNamespace(model="m-1", stop_reason=None))
    end = SimpleNamespace(delta=SimpleNamespace(stop_reason="tool_use"))
    assert raw_model_and_finish(SimpleNamespace(raw_stream_events=[head, end])) == ("m-1", "tool_use")
    chunks = [
        SimpleNamespace(model="m-2", choices=[SimpleNamespace(finish_reason="stop")]),
        SimpleNamespace(model="m-2", choices=[]),
    ]
    assert raw_model_and_finish(SimpleNamespace(raw_stream_events=chunks)) == ("m-2", "stop")


def test_parameters_have_the_keys_that_the_library_has_a_place_for() -> None:
    schema = {"type": "object", "title": "T", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}
    assert tool_parameters(ToolSchema("read", "Read", schema)) == {
        "properties": {"bed": {"type": "string"}},
        "required": ["bed"],
    }
