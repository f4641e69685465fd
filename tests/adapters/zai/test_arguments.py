"""Arguments that come as a string of JSON: read where an object belongs, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.errors import TransportError
from turnproof.messages import FunctionCall, Message, ToolSchema
from turnproof_adapters.zai.arguments import as_declared

from ..anthropic.kit import call_block, tool_use
from ..call_modes import HI
from ..callback_recorder import CallbackRecorder
from .kit import Service, answer, legacy, stateless, stream

AREA = {"type": "object", "properties": {"bed": {"type": "string"}, "inner": {"type": "object"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "area": AREA,
        "maybe": {"anyOf": [AREA, {"type": "null"}]},
        "either": {"oneOf": [AREA, {"type": "string"}]},
        "kinds": {"type": ["object", "null"]},
        "free": {},
        "note": {"type": "string"},
        "litres": {"type": "number"},
        "implied": {"properties": {"bed": {}}},
    },
}
BED = '{"bed": "3"}'


@pytest.mark.parametrize(
    ("raw_arguments", "expected"),
    [
        ({}, {}),
        ({"note": "wet"}, {"note": "wet"}),
        (json.dumps({"note": "wet"}), {"note": "wet"}),
        (json.dumps({"area": BED}), {"area": {"bed": "3"}}),
        ({"area": BED}, {"area": {"bed": "3"}}),
        ({"area": {"inner": '{"x": 1}'}}, {"area": {"inner": {"x": 1}}}),
        ({"area": json.dumps({"inner": '{"x": 1}'})}, {"area": {"inner": {"x": 1}}}),
        ({"maybe": BED}, {"maybe": {"bed": "3"}}),
        ({"maybe": None}, {"maybe": None}),
        ({"kinds": BED}, {"kinds": {"bed": "3"}}),
        ({"implied": BED}, {"implied": {"bed": "3"}}),
        ({"either": BED}, {"either": BED}),
        ({"free": BED}, {"free": BED}),
        ({"note": BED}, {"note": BED}),
        ({"litres": BED}, {"litres": BED}),
        ({"unknown": BED}, {"unknown": BED}),
        ({"area": "[1]"}, {"area": "[1]"}),
        ({"area": "bed 3"}, {"area": "bed 3"}),
        ({"area": "{"}, {"area": "{"}),
        ({"area": "[" * 100_000}, {"area": "[" * 100_000}),
        ({"area": [BED]}, {"area": [BED]}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_string_is_read_where_only_an_object_fits(raw_arguments: Any, expected: Any) -> None:
    assert as_declared(raw_arguments, SCHEMA) == expected


@pytest.mark.parametrize("schema", [None, {}, {"properties": None}, {"anyOf": "odd"}, {"anyOf": [None]}], ids=repr)
def test_without_a_schema_only_the_whole_is_read(schema: Any) -> None:
    assert as_declared(json.dumps({"area": BED}), schema) == {"area": BED}


@pytest.mark.parametrize(
    "raw_arguments", ["", "bed 3", "[]", "7", "null", "{", "[" * 100_000], ids=lambda value: value[:9]
)
def test_a_string_that_is_no_object_is_left_as_it_is(raw_arguments: str) -> None:
    assert as_declared(raw_arguments, SCHEMA) == raw_arguments


TOOL = ToolSchema("mcp.water", "", SCHEMA)
ARGS = {"area": {"bed": "3"}}


def wire_name() -> str:
    """The name under which the tool goes out; its own has a character that the API does not take."""
    service = Service()
    stateless(transport=service.transport).complete(HI, None, [TOOL])
    return str(service.body["tools"][0]["name"])


@pytest.mark.parametrize(
    "arguments", [json.dumps({"area": BED}), {"area": BED}, ARGS], ids=["whole", "member", "object"]
)
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_call_has_its_arguments_as_the_tool_declares_them(arguments: Any, streamed: bool) -> None:
    name = wire_name()
    called = stream(
        call_block(0, "call_1", name, json.dumps(arguments)[:5], json.dumps(arguments)[5:]), stop="tool_use"
    )
    service = Service(answer(tool_use("call_1", name, arguments), stop="tool_use"), called)
    recorder = CallbackRecorder()
    callbacks = recorder.callbacks if streamed else {}
    provider, owner = stateless(transport=service.transport), legacy(transport=service.transport)
    first = provider.complete(HI, None, [TOOL], **callbacks)
    owner.create_session(None, [TOOL])
    second = owner.send_message_streaming("hi", print) if streamed else owner.send_message("hi")
    call = FunctionCall("call_1", "mcp.water", ARGS)
    assert first.calls == second.calls == (call,)
    assert recorder.calls == ([call] if streamed else [])
    provider.complete([*HI, Message("model", first.parts)], None, [TOOL])
    assert service.body["messages"][1]["content"][0]["input"] == ARGS, "what goes back is the object"


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize("arguments", ["water bed 3", "[1]", [1], 7], ids=repr)
def test_arguments_that_are_no_object_are_never_run(arguments: Any, streamed: bool) -> None:
    called = stream(call_block(0, "call_1", "water", json.dumps(arguments)), stop="tool_use")
    service = Service(answer(tool_use("call_1", "water", arguments), stop="tool_use"), called)
    recorder = CallbackRecorder()
    owner = legacy(transport=service.transport)
    with pytest.raises(TransportError, match="malformed arguments for a call of 'water'"):
        stateless(transport=service.transport).complete(HI, **(recorder.callbacks if streamed else {}))
    with pytest.raises(TransportError, match="malformed arguments for a call of 'water'"):
        owner.send_message_streaming("hi", print) if streamed else owner.send_message("hi")
    assert recorder.calls == []
    assert owner.get_history() == []
