"""Ollama's two surfaces over a real socket: through its own client, through Anthropic's SDK, and through neither.

What happens to a stream (garbage, an end that is missing, an error) happens to lines of JSON as it does to events.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import ReplyPart, WireAnswer
from turnproof.messages import FinishReason, FunctionCall, Text, Thought, ToolSchema
from turnproof.scenarios.model import Fault, ScriptRound, Turn
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof.wire.emulator.serve import describe

from ..anthropic_messages.builders import TOOL
from ..requests import Json
from .refusals import FUNCTION, MODEL, QUESTION

NATIVE = dialect("ollama@native")
TEXT = "Bed 3 is dry – water it 🌱."
LOOK = (Thought("Bed 3 needs the sensor."), Text(TEXT), FunctionCall("", "read_sensor", {"bed": "3", "unit": "°C"}))
ROUND = ScriptRound(tuple(ReplyPart(part) for part in LOOK), FinishReason.TOOL_USE, usage={"fresh": 198, "output": 31})


def opened(server: EmulatorServer, *faults: Fault) -> ServerRun:
    run = server.open_run(NATIVE, ScriptResponder())
    turn = Turn(user=(Text("How moist is bed 3?"),), rounds=(ROUND,), faults=faults)
    run.arm(0, turn, (ToolSchema("read_sensor"),))
    return run


def posted(run: ServerRun, path: str = "/api/chat", **more: Any) -> tuple[int, dict[str, str], bytes]:
    """A request as any client would make it, and what came of it, as far as it came."""
    body = {"model": MODEL, "messages": [QUESTION], "tools": [FUNCTION], **more}
    host, port = run.base_url.split("/")[2].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    try:
        connection.request("POST", f"/run/{run.id}{path}", json.dumps(body), {"content-type": "application/json"})
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        try:
            return response.status, headers, response.read()
        except http.client.IncompleteRead as cut:
            return response.status, headers, cut.partial
    finally:
        connection.close()


def read(run: ServerRun, **more: Any) -> WireAnswer:
    return NATIVE.read_response(*posted(run, **more))


def test_lines_arrive_as_they_were_written_and_no_key_is_asked_for(server: EmulatorServer) -> None:
    run = opened(server)
    status, headers, body = posted(run)
    assert (status, headers["content-type"]) == (200, "application/x-ndjson")
    assert body == bytes(run.end_call(0)[0].body)
    answer = NATIVE.read_response(status, headers, body)
    assert (answer.parts[:2], answer.complete) == (LOOK[:2], True)
    assert read(opened(server), stream=False) == answer


@pytest.mark.parametrize(
    "fault",
    [
        Fault("split"),
        Fault("drip"),
        Fault("comment"),
        Fault("respelled", spelling="crlf"),
        Fault("respelled", spelling="lf"),
    ],
    ids=["split", "drip", "noise", "crlf", "lf"],
)
def test_what_only_looks_different_reads_the_same(server: EmulatorServer, fault: Fault) -> None:
    assert read(opened(server, fault)) == read(opened(server))


@pytest.mark.parametrize(
    "fault",
    [
        Fault("truncate", after="text:2"), Fault("reset", after="text:2"), Fault("no-end"),
        Fault("garbage", after="text:2"), Fault("truncate", after="args:1"),
    ],
    ids=["truncated", "reset", "no-end", "garbage", "in-the-call"],
)  # fmt: skip
def test_a_stream_that_breaks_is_not_taken_for_a_whole_one(server: EmulatorServer, fault: Fault) -> None:
    try:
        answer = read(opened(server, fault))
    except ConnectionError:
        return
    assert not answer.complete


def test_a_call_is_whole_or_not_there(server: EmulatorServer) -> None:
    for after, calls in (("text:1", 0), ("args:1", 1), ("call:1", 1)):
        answer = read(opened(server, Fault("no-end", after=after)))
        assert sum(isinstance(part, FunctionCall) for part in answer.parts) == calls
        assert answer.broken_calls == 0


def test_an_error_after_the_stream_began_is_a_line_of_its_own(server: EmulatorServer) -> None:
    run = opened(server, Fault("error-event", after="text:1", status=503))
    status, headers, body = posted(run)
    last = json.loads(body.splitlines()[-1])
    assert (status, list(last)) == (200, ["error"])
    assert last["error"].startswith("server busy")
    answer = NATIVE.read_response(status, headers, body)
    assert (answer.error_kind, answer.complete) == ("", False)


def test_the_same_fault_on_the_other_door_is_an_event(server: EmulatorServer) -> None:
    run = opened(server, Fault("error-event", after="text:1", status=503))
    _, headers, body = posted(run, "/v1/messages", max_tokens=9, stream=True, tools=[TOOL])
    assert headers["content-type"].startswith("text/event-stream")
    assert body.rstrip().splitlines()[-2] == b"event: error"


def test_a_scripted_status_has_the_body_of_the_surface_that_is_named(server: EmulatorServer) -> None:
    status, headers, body = posted(opened(server, Fault("status", status=503, retry_after=2.0)))
    assert (status, headers["retry-after"]) == (503, "2")
    assert json.loads(body) == {"error": "server busy, please try again.  maximum pending requests exceeded"}


def test_a_prompt_that_was_cut_is_answered_and_logged(server: EmulatorServer) -> None:
    run = opened(server)
    messages = [{"role": "user", "content": "m" * 8_000}, QUESTION]
    status, _, body = posted(run, messages=messages, options={"num_ctx": 1000})
    assert (status, json.loads(body.splitlines()[-1])["done"]) == (200, True)
    (finding,) = run.exchanges[0].findings
    assert (finding.rule.id, finding.enforced) == ("ollama/prompt-truncated", False)
    assert f"done in silence: {finding.message} [ollama/prompt-truncated, SRC]" in describe(1, run.exchanges[0])


# -- Anthropic's SDK


REQUEST: Json = {"model": MODEL, "max_tokens": 64, "messages": [QUESTION], "tools": [TOOL]}


@pytest.fixture(scope="module")
def sdk(server: EmulatorServer) -> Iterator[anthropic.Anthropic]:
    run = opened(server)
    with anthropic.Anthropic(
        base_url=run.base_url, api_key="ignored", max_retries=0, http_client=httpx2.Client()
    ) as client:
        yield client


def test_the_sdk_reads_batch_and_stream_of_the_other_door(sdk: anthropic.Anthropic) -> None:
    whole: Any = sdk.messages.create(**REQUEST)
    with sdk.messages.stream(**REQUEST) as stream:
        streamed: Any = stream.get_final_message()
    for message in (whole, streamed):
        thinking, text, call = message.content
        assert (thinking.thinking, text.text) == (LOOK[0].text, TEXT)
        assert (call.name, call.input) == ("read_sensor", {"bed": "3", "unit": "°C"})
        assert message.stop_reason == "tool_use"
        assert (message.usage.input_tokens, message.usage.output_tokens) == (198, 31)
        assert message.usage.cache_read_input_tokens is None


# -- Ollama's own client


@pytest.fixture(scope="module")
def client(server: EmulatorServer) -> Any:
    return pytest.importorskip("ollama").Client(opened(server).base_url)


def test_the_client_reads_batch_and_stream(client: Any) -> None:
    arguments = {"model": MODEL, "messages": [QUESTION], "tools": [FUNCTION], "think": True}
    whole = client.chat(**arguments)
    lines = list(client.chat(**arguments, stream=True))
    assert (whole.message.thinking, whole.message.content) == (LOOK[0].text, TEXT)
    assert "".join(line.message.thinking or "" for line in lines) == LOOK[0].text
    assert "".join(line.message.content or "" for line in lines) == TEXT
    calls = [call for line in lines for call in line.message.tool_calls or ()]
    assert calls == list(whole.message.tool_calls)
    assert calls[0].function.arguments == {"bed": "3", "unit": "°C"}
    assert [(each.done_reason, each.prompt_eval_count, each.eval_count) for each in (whole, lines[-1])] == [
        ("stop", 198, 31), ("stop", 198, 31),
    ]  # fmt: skip


def test_the_client_reads_what_no_script_speaks_of(client: Any) -> None:
    assert MODEL in [row.model for row in client.list().models]
    assert client.show(MODEL).capabilities == ["completion", "tools", "thinking"]
    assert client.ps().models


def test_the_client_raises_refusals_and_error_lines(server: EmulatorServer) -> None:
    ollama = pytest.importorskip("ollama")
    with pytest.raises(ollama.ResponseError, match="model 'qwen9' not found") as refused:
        ollama.Client(opened(server).base_url).chat("qwen9", [QUESTION])
    assert refused.value.status_code == 404
    broken = ollama.Client(opened(server, Fault("error-event", after="text:1", status=503)).base_url)
    with pytest.raises(ollama.ResponseError, match="server busy") as ended:
        list(broken.chat(MODEL, [QUESTION], stream=True))
    assert ended.value.status_code == -1


def test_the_client_does_not_read_over_garbage(server: EmulatorServer) -> None:
    ollama = pytest.importorskip("ollama")
    spoilt = ollama.Client(opened(server, Fault("garbage", after="text:1")).base_url)
    with pytest.raises(json.JSONDecodeError):
        list(spoilt.chat(MODEL, [QUESTION], stream=True))
