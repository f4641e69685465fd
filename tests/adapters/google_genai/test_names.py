"""Names: always legal, never colliding, and back again. Ids: the API's own, or one that is told apart from them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.messages import FunctionCall, Message, ToolResult, ToolSchema
from turnproof_adapters.google_genai.names import is_made_up, made_up_id, wire_name

from ..callback_recorder import CallbackRecorder
from .kit import Capture, answer, call, chunk, stateless

LEGAL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
words = st.text(min_size=1, max_size=90) | st.sampled_from(["a b", "a/b", "a_b", "", "北", "9lives", "-x0123456789"])


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_declarations_calls_results_and_replayed_history_agree(streamed: bool) -> None:
    tools = [ToolSchema("mcp/srv ls"), ToolSchema("mcp srv/ls")]
    wire = [wire_name(tool.name) for tool in tools]
    calls = [call(name, {}, f"c{n}") for n, name in enumerate(wire)]
    capture = Capture(answer(*calls), [chunk(*calls, finish="STOP")])
    provider = stateless(transport=capture.transport)
    recorder = CallbackRecorder()
    history = [Message.user("hi")]
    response = provider.complete(history, None, tools, **(recorder.callbacks if streamed else {}))
    assert [each.name for each in response.calls] == [tool.name for tool in tools]
    assert recorder.calls == (list(response.calls) if streamed else [])
    results = [ToolResult(each.id, each.name, "ok") for each in response.calls]
    provider.complete([*history, Message.model(*response.parts), Message.tool(*results)], None, tools)
    declared = [each["name"] for each in capture.body["tools"][0]["functionDeclarations"]]
    assert sorted(declared) == sorted(wire)
    assert [part["functionCall"]["name"] for part in capture.body["contents"][1]["parts"]] == wire
    assert [part["functionResponse"]["name"] for part in capture.body["contents"][2]["parts"]] == wire


def test_a_call_of_a_tool_that_is_gone_gets_its_name_from_the_history() -> None:
    history = [
        Message.user("hi"),
        Message.model(FunctionCall("a", "old tool", {})),
        Message.tool(ToolResult("a", "old tool", 1)),
    ]
    reply = answer(call(wire_name("old tool"), {}, "b"))
    response = stateless(transport=Capture(reply).transport).complete(history)
    assert response.calls[0].name == "old tool"


@given(st.text(max_size=40), st.integers(0, 99))
def test_a_made_up_id_is_known_by_its_form(response_id: str, place: int) -> None:
    made_up = made_up_id(response_id, place)
    assert is_made_up(made_up)
    assert made_up == made_up_id(response_id, place)
    assert made_up != made_up_id(response_id, place + 1)
    assert made_up != made_up_id(response_id + "x", place)


def test_an_id_is_made_up_of_any_text_at_all() -> None:
    """A gateway may have cut a character in two."""
    assert is_made_up(made_up_id("half \ud83d", 0))


@pytest.mark.parametrize("own", ["", "a1b2c3", "call_0", "toolu_01", "unnamed", "unnamed-x-1"])
def test_an_id_of_a_service_is_not_taken_for_a_made_up_one(own: str) -> None:
    assert not is_made_up(own)
