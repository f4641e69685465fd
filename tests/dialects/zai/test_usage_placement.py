"""One script through Anthropic's Messages API and through Z.ai's endpoint, over a real socket and through the SDK that
both are spoken to with: what differs is what an adapter for the one gets wrong with the other."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import ReplyPart
from turnproof.dialects.contract import Dialect
from turnproof.messages import FinishReason, FunctionCall, Text, Thought, ToolSchema
from turnproof.scenarios.model import Fault, ScriptRound, Turn
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof.wire.emulator.server_run import CANARY_KEY

from ..anthropic_messages.builders import OPENING
from .refusals import MODEL

LOOK = (
    Thought("Bed 3 needs the sensor."),
    Text("Let me look at bed 3. 🌱"),
    FunctionCall("", "read_sensor", {"bed": "3", "unit": "°C"}),
    FunctionCall("", "water"),
)


ROUND = ScriptRound(tuple(ReplyPart(part) for part in LOOK), FinishReason.TOOL_USE, usage={"fresh": 14, "output": 9})
TOOLS = (ToolSchema("read_sensor"), ToolSchema("water"))
MODELS = {"anthropic-messages": "claude-opus-4-8", "zai": MODEL}


def opened(server: EmulatorServer, wire: Dialect, *faults: Fault) -> ServerRun:
    run = server.open_run(wire, ScriptResponder())
    run.arm(0, Turn(user=(Text("How moist is bed 3?"),), rounds=(ROUND,), faults=faults), TOOLS)
    return run


def client_of(run: ServerRun) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=run.base_url, api_key=CANARY_KEY, max_retries=0, http_client=httpx2.Client())


def arguments_for(run: ServerRun) -> Any:
    tools = [{"name": tool.name, "input_schema": {"type": "object"}} for tool in TOOLS]
    return {"model": MODELS[run.dialect.name], "max_tokens": 256, "messages": [OPENING], "tools": tools}


def streamed(server: EmulatorServer, name: str) -> tuple[list[Any], Any]:
    """The events of the script as the SDK reads them, and the message that it makes of them."""
    run = opened(server, dialect(name))
    with client_of(run) as client:
        events = list(client.messages.create(**arguments_for(run), stream=True))
        with client.messages.stream(**arguments_for(run)) as stream:
            return events, stream.get_final_message()


def figures(events: list[Any]) -> tuple[Any, Any]:
    (start,) = (each for each in events if each.type == "message_start")
    (delta,) = (each for each in events if each.type == "message_delta")
    return start.message.usage, delta.usage


def test_the_same_script_shows_its_figures_in_two_places(server: EmulatorServer) -> None:
    (start, delta), (zero, true) = (figures(streamed(server, name)[0]) for name in MODELS)
    assert (start.input_tokens, delta.input_tokens) == (14, 14)
    assert (zero.input_tokens, true.input_tokens) == (0, 14)
    assert (delta.output_tokens, true.output_tokens) == (9, 9)
    # Who reads the start alone has nothing here; who adds both has twice the prompt there.
    assert start.input_tokens + delta.input_tokens != 14 == zero.input_tokens + true.input_tokens
    assert (start.cache_creation is not None, zero.cache_creation) == (True, None)


@pytest.mark.parametrize("name", MODELS)
def test_the_sdk_reads_batch_and_stream_alike(server: EmulatorServer, name: str) -> None:
    _, message = streamed(server, name)
    run = opened(server, dialect(name))
    with client_of(run) as client:
        whole: Any = client.messages.create(**arguments_for(run))
    fields = ("type", "text", "thinking", "name", "input")
    blocks = [
        [{key: getattr(block, key, None) for key in fields} for block in each.content] for each in (message, whole)
    ]
    assert blocks[0] == blocks[1]
    assert [block["type"] for block in blocks[0]] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.usage.output_tokens == whole.usage.output_tokens == 9
    assert whole.usage.input_tokens == 14


def test_a_scripted_overload_is_an_error_with_the_code_of_the_service(server: EmulatorServer) -> None:
    run = opened(server, dialect("zai"), Fault("status", status=429, error_kind="1113", message="Insufficient balance"))
    with client_of(run) as client, pytest.raises(anthropic.RateLimitError) as raised:
        client.messages.create(**arguments_for(run))
    body: Any = raised.value.body
    assert body["error"]["code"] == "1113"


def test_an_error_in_the_stream_reaches_the_sdk(server: EmulatorServer) -> None:
    run = opened(server, dialect("zai"), Fault("error-event", status=529, index=3))
    with client_of(run) as client, pytest.raises(anthropic.APIStatusError) as raised:
        list(client.messages.create(**arguments_for(run), stream=True))
    body: Any = raised.value.body
    assert (raised.value.status_code, body["error"]["code"]) == (200, "1305")
