"""ADK's contents as dicts: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace

from turnproof.messages import FunctionCall, Message, ProviderData, Text, Thought, ToolResult, ToolSchema
from turnproof_adapters.peers.google_adk_messages import AdkMessages, request_config

WRITER = AdkMessages("gemini", "gemini-2.5-flash")


def test_a_signature_comes_as_bytes_and_goes_back_as_them() -> None:
    nothing = SimpleNamespace(function_call=None, thought=None, text=None, thought_signature=None)
    thought = SimpleNamespace(**{**vars(nothing), "thought": True, "text": "Two beds.", "thought_signature": b"sig"})
    (part,) = WRITER.read(SimpleNamespace(parts=[thought]))
    assert part == Thought("Two beds.", provider_data=ProviderData("gemini", "gemini-2.5-flash", {"signature": "c2ln"}))
    (written,) = WRITER.write([Message("model", (part,))])
    assert written["parts"] == [{"text": "Two beds.", "thought": True, "thought_signature": b"sig"}]


def test_anthropics_signature_is_a_text_in_the_library_and_on_the_wire() -> None:
    writer = AdkMessages("anthropic-messages", "claude-sonnet-4-6")
    nothing = SimpleNamespace(function_call=None, thought=True, text="Two beds.", thought_signature=b"EqkB+w==")
    (part,) = writer.read(SimpleNamespace(parts=[nothing]))
    assert part.provider_data is not None
    assert part.provider_data.data == {"signature": "EqkB+w=="}
    (written,) = writer.write([Message("model", (part,))])
    assert written["parts"][0]["thought_signature"] == b"EqkB+w=="


def test_a_thought_of_another_service_stays_behind() -> None:
    foreign = Thought("Hm.", provider_data=ProviderData("anthropic-messages", "claude", {"signature": "c2ln"}))
    (written,) = WRITER.write([Message("model", (foreign, Text("Yes.")))])
    assert written["parts"] == [{"text": "Yes."}]


def test_a_call_without_an_id_and_its_result_go_back_without() -> None:
    call = SimpleNamespace(id=None, name="read", args={"bed": 3})
    part = SimpleNamespace(function_call=call, thought=None, text=None, thought_signature=None)
    (read,) = WRITER.read(SimpleNamespace(parts=[part]))
    assert isinstance(read, FunctionCall)
    results = Message.tool(ToolResult(read.id, "read", "41 %"), ToolResult(read.id, "read", "none", is_error=True))
    called, answered = WRITER.write([Message("model", (read,)), results])
    assert called["parts"] == [{"function_call": {"id": None, "name": "read", "args": {"bed": 3}}}]
    assert [one["function_response"] for one in answered["parts"]] == [
        {"id": None, "name": "read", "response": {"result": "41 %"}},
        {"id": None, "name": "read", "response": {"error": "none"}},
    ]


def test_instructions_between_messages_are_at_the_end_of_the_system_text() -> None:
    tools = [ToolSchema("read", "Read a bed", {"type": "object"})]
    config = request_config([Message.system("In German.")], "Be brief.", tools, {"max_tokens": 64})
    assert config["system_instruction"] == "Be brief.\n\nIn German."
    assert config["max_output_tokens"] == 64
    (declared,) = config["tools"][0]["function_declarations"]
    assert declared == {"name": "read", "description": "Read a bed", "parameters_json_schema": {"type": "object"}}
