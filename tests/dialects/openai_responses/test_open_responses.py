"""What the emulator and the reference adapter send is what Open Responses describes, over HTTP and over a WebSocket.

What is not is listed, with its reason. The page of the description's sentences is complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof.dialects.base import SOCKET_METHOD
from turnproof.dialects.openai_responses import DIALECT, rules
from turnproof.judge.requirements import load_suite
from turnproof.messages import FunctionCall, InlineData, Message, Text, Thought, ToolResult, ToolSchema
from turnproof.provider import Binding, Endpoint
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder
from turnproof_adapters.openai_responses.binding import BINDING, WEBSOCKET

from ..descriptions import description, schema_faults
from .asks import world
from .rendering import PROMPT, REPLIES
from .test_over_socket import SOCKETS, answered, message

pytest.importorskip("llm_comply")

Json = dict[str, Any]
NAME = "openresponses"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "open-responses.md"
OWN_TOOLS = "searched"
"""The answer with an item of OpenAI's own tools, which Open Responses would have with a prefix."""


def events() -> dict[str, str]:
    """The schema of each type of event."""
    found = {}
    for name, schema in description(NAME)["components"]["schemas"].items():
        types = schema.get("properties", {}).get("type", {}).get("enum")
        if name.endswith("StreamingEvent") and types:
            found[types[0]] = name
    return found


def faults_of(event: Json) -> list[str]:
    return schema_faults(NAME, events()[event["type"]], event)


def test_the_description_is_the_one_that_the_page_names() -> None:
    assert description(NAME)["info"]["version"] == "2026-04-24"
    assert len(events()) >= 24
    assert schema_faults(NAME, "WebSocketErrorEvent", {"type": "error"})
    assert faults_of({"type": "response.completed"})


@pytest.mark.parametrize("reply_name", [name for name in REPLIES if name != OWN_TOOLS])
def test_the_messages_of_a_socket_are_the_events_that_are_described(reply_name: str) -> None:
    assert SOCKETS is not None
    at, sent = world(), message(include=["reasoning.encrypted_content"], reasoning={"summary": "auto"})
    call = DIALECT.parse(sent, at)
    rendered = SOCKETS.messages(DIALECT.render(call, REPLIES[reply_name], PROMPT, at, "s"), sent)  # type: ignore[arg-type]
    bodies = [json.loads(event.data) for event in rendered.events]
    assert len(bodies) > 2
    assert [fault for one in bodies for fault in faults_of(one)] == []


def test_an_item_of_the_vendors_own_tools_is_all_that_is_not_described() -> None:
    assert SOCKETS is not None
    at, sent = world(), message()
    call = DIALECT.parse(sent, at)
    rendered = SOCKETS.messages(DIALECT.render(call, REPLIES[OWN_TOOLS], PROMPT, at, "s"), sent)  # type: ignore[arg-type]
    faults = [fault for event in rendered.events for fault in faults_of(json.loads(event.data))]
    assert faults
    assert [one for one in faults if "web_search_call" not in one] == []


@pytest.mark.parametrize(
    "sent", [message(previous_response_id="resp_of_nobody"), message(model="gpt-nobody"), message(stream_id="a b")]
)
def test_an_error_of_a_socket_is_the_event_that_is_described(sent: Any) -> None:
    (error_event,) = answered(sent, world())
    assert schema_faults(NAME, "WebSocketErrorEvent", error_event) == []


SENSOR = ToolSchema("read_sensor", "Reads one sensor", {"type": "object", "properties": {"bed": {"type": "string"}}})
HISTORY = (
    Message.user("How moist is bed 3?"),
    Message("model", (Thought("Bed 3 needs the sensor."), FunctionCall("call_1", "read_sensor", {"bed": "3"}))),
    Message.tool(ToolResult("call_1", "read_sensor", "41 %")),
    Message("model", (Text("41 %"),)),
    Message("user", (Text("And this leaf?"), InlineData("image/png", b"\x89PNG\r\n\x1a\n"))),
)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("binding", [BINDING, WEBSOCKET], ids=["http", "websocket"])
def test_the_requests_of_the_adapter_and_their_answers_are_as_described(
    server: EmulatorServer, binding: Binding, *, streamed: bool
) -> None:
    pytest.importorskip("openai")
    pytest.importorskip("websockets")
    assert binding.open_stateless is not None
    assert binding.open_legacy is not None
    run = server.open_run(DIALECT, EchoResponder(), any_key=True)
    endpoint = Endpoint(run.base_url, "key", "gpt-5.5", {"thinking": {"effort": "low"}, "max_tokens": 500})
    chunks: list[str] = []
    stateless, legacy = binding.open_stateless(endpoint), binding.open_legacy(endpoint)
    stateless.complete(HISTORY, "Be brief.", [SENSOR], on_chunk=chunks.append if streamed else None)
    legacy.create_session("Be brief.", [SENSOR])
    for text in ("Hello", "And now?"):
        legacy.send_message_streaming(text, chunks.append) if streamed else legacy.send_message(text)
    stateless.shutdown()
    legacy.shutdown()
    generate_exchanges = [one for one in run.end_call(0) if one.operation == "generate"]
    assert len(generate_exchanges) == 3
    for one in generate_exchanges:
        over_socket = one.request.method == SOCKET_METHOD
        assert over_socket is (binding is WEBSOCKET)
        schema = "WebSocketResponseCreateEvent" if over_socket else "CreateResponseBody"
        assert schema_faults(NAME, schema, json.loads(one.request.body)) == []
        assert one.findings == []
        for body in _bodies(one.headers, bytes(one.body)):
            faults = faults_of(body) if "sequence_number" in body else schema_faults(NAME, "ResponseResource", body)
            assert faults == []


def _bodies(headers: Any, body: bytes) -> Iterator[Json]:
    for event in DIALECT.split_stream(headers, body):
        yield json.loads(event.data.partition(b"data: ")[2] or event.data)


# -- the page

_NORMATIVE = re.compile(r"\b(must|should|cannot|may not|shall|required)\b", re.IGNORECASE)


def sentences() -> set[str]:
    """The sentences of the description that say what must, should or cannot be."""
    return {one for text in _texts(description(NAME)) for one in _split(text) if _NORMATIVE.search(one)}


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(found := node.get("description"), str):
            yield found
        for each in node.values():
            yield from _texts(each)
    elif isinstance(node, list):
        for each in node:
            yield from _texts(each)


def _split(text: str) -> list[str]:
    return [" ".join(one.split()) for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", text)]


def rows() -> list[list[str]]:
    """The rows of both tables."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] not in ("Sentence", "Says")]


def test_every_normative_sentence_of_the_description_is_on_the_page() -> None:
    page_sentences = {row[0] for row in rows()}
    assert len(sentences()) >= 9
    assert sorted(sentences() - page_sentences) == []


def test_the_page_has_no_sentence_that_is_not_in_the_description() -> None:
    table = PAGE.read_text("utf-8").partition("## The sentences")[2].partition("## The changelog")[0]
    page_sentences = {row[0] for row in rows() if row[0] in table}
    assert page_sentences - sentences() == set()


def test_every_row_names_what_covers_it_or_why_nothing_does() -> None:
    known = {one.id for one in load_suite().requirements} | {rule.id for rule in rules.ALL}
    for sentence, whom, covered in rows():
        assert whom in ("client", "server", "both"), sentence
        assert covered
        named = re.findall(r"`([a-z-]+/[a-z-]+)`", covered)
        assert set(named) <= known, sentence
