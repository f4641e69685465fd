"""Every answer of the emulator is what the vendors' interface descriptions allow, but what is listed with its reason.

The descriptions are those in the wheel of llm-comply. The emulator is asked anew for what the reference adapters ask in
every scenario that they claim, as their cassettes have it, streamed and in one piece; and for each pair of the census.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from dialects.descriptions import description, schema_faults
from dialects.gemini_interactions.described import EVENTS as INTERACTION_EVENTS

import turnproof_cassettes
from turnproof.commands.census.pairs import pairs_of
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect
from turnproof.dialects.base import SOCKET_METHOD, HttpRequest, Rendered
from turnproof.dialects.contract import Dialect
from turnproof.judge.requirements import load_suite
from turnproof.messages import ToolSchema
from turnproof.scenarios.model import Scenario
from turnproof.wire.cassettes import Cassette, load
from turnproof.wire.emulator import ScriptResponder
from turnproof.wire.emulator.answers import answer_exchange
from turnproof.wire.emulator.server_run import Exchange, ServerRun, new_run

pytestmark = pytest.mark.long

Json = dict[str, Any]

CASSETTES = Path(next(iter(turnproof_cassettes.__path__)))
KEYS = {"authorization": "Bearer any", "x-api-key": "any", "x-goog-api-key": "any"}
"""What cassettes do not keep."""

LEAST = 1_000
"""Different documents that there are at least: fewer would mean that most scenarios were not asked for."""


@dataclass(frozen=True)
class Described:
    """What describes the answers of a dialect.

    `whole` is the schema of an answer in one piece, `event` that of an event, `error` that of an error. `lacks` gives
    an answer the members that the description demands and recordings of the service do not have. `listed` are words of
    the objections that remain, each with the reason for which the emulator keeps what it does.
    """

    adapter: str
    description: str
    whole: str
    event: Callable[[Json], str]
    error: str
    listed: Mapping[str, str]
    lacks: Callable[[Json], None] = lambda document: None


def _anthropic_lacks(document: Json) -> None:
    """107 of 110 recorded answers have no `container`, 102 no `server_tool_use`, 97 no `output_tokens_details`, and 118
    of 137 text blocks no `citations`. Half of the calls have no `caller`, and none of 27 results of a web search."""
    message = document.get("message", document)
    if message.get("type") == "message":
        message.setdefault("container", None)
        for block in message["content"]:
            _block_lacks(block)
    if document.get("type") == "content_block_start":
        _block_lacks(document["content_block"])
    if document.get("type") == "message_delta":
        document["delta"].setdefault("container", None)
        document["delta"].setdefault("stop_details", None)
    for usage in (document.get("usage"), message.get("usage")):
        if usage is not None:
            usage.setdefault("server_tool_use", None)
            usage.setdefault("output_tokens_details", None)


def _block_lacks(block: Json) -> None:
    if block["type"] == "text":
        block.setdefault("citations", None)
    if block["type"] in ("tool_use", "server_tool_use", "web_search_tool_result"):
        block.setdefault("caller", {"type": "direct"})
    if block["type"] == "web_search_tool_result":
        for result in block["content"]:
            result.setdefault("page_age", None)


@cache
def _events_of_responses() -> dict[str, str]:
    """The schema of each type of event of Open Responses."""
    found: dict[str, str] = {}
    for name, schema in description("openresponses")["components"]["schemas"].items():
        types = schema.get("properties", {}).get("type", {}).get("enum")
        if name.endswith("StreamingEvent") and types:
            found[types[0]] = name
    return found


_UNKNOWN_WORD = "a scenario has the service end with a word that nobody knows, on purpose"

DESCRIBED = (
    Described(
        "openai",
        "openai_chat",
        "CreateChatCompletionResponse",
        lambda event: "CreateChatCompletionStreamResponse",
        "ErrorResponse",
        {"'sundown'": _UNKNOWN_WORD},
    ),
    Described(
        "anthropic",
        "anthropic",
        "Message",
        lambda event: "MessageStreamEvent",
        "ErrorResponse",
        {
            "'sundown'": _UNKNOWN_WORD,
            "{'type': 'ping'} is not valid": "pings are described in the guide to streams, and not in the description",
        },
        _anthropic_lacks,
    ),
    Described(
        "openai_responses",
        "openresponses",
        "ResponseResource",
        lambda event: _events_of_responses()[event["type"]],
        "ErrorPayload",
        {
            "'type': 'json_schema'": "the description has no schema in the format of an answer but null; OpenAI's own "
            "types of an answer have the one that was asked for"
        },
    ),
    Described(
        "google_interactions",
        "google_interactions",
        "Interaction",
        lambda event: INTERACTION_EVENTS[event["event_type"]],
        "Error",
        {"'sundown'": _UNKNOWN_WORD},
    ),
)


@pytest.mark.parametrize("described", DESCRIBED, ids=lambda one: one.adapter)
def test_every_answer_in_every_scenario_is_as_the_vendor_describes_it(described: Described) -> None:
    found: dict[str, str] = {}
    documents: set[str] = set()
    for place, schema, document in answers(described):
        shape = re.sub(r'"[^"]{12,}"', '""', json.dumps([schema, document]))
        if shape not in documents:
            documents.add(shape)
            for objection in objections(described, schema, document):
                found.setdefault(objection, place)
    assert len(documents) > LEAST
    assert found == {}


@pytest.mark.parametrize("described", [one for one in DESCRIBED if one.listed], ids=lambda one: one.adapter)
def test_what_is_listed_is_still_objected_to(described: Described) -> None:
    complaints = [
        objection
        for scenario in ("finish/reasons", "structured/plain")
        for place, schema, document in answers(described, only=scenario)
        for objection in schema_faults(described.description, schema, document)
    ]
    assert [words for words in described.listed if not any(words in one for one in complaints)] == []


@pytest.mark.parametrize("described", DESCRIBED, ids=lambda one: one.adapter)
def test_every_refusal_of_the_census_is_as_the_vendor_describes_it(described: Described) -> None:
    wire_dialect = _dialect_of(described)
    found: dict[str, str] = {}
    refused = 0
    for pair in pairs_of(wire_dialect.name).pairs:
        if pair.surface not in ("", "openai"):
            continue
        run = new_run("1", wire_dialect, ScriptResponder(), any_key=True)
        illegal = pair.illegal.as_http()
        rendered = _answered(run, replace(illegal, headers={**illegal.headers, **KEYS}))
        if rendered.status >= 400:
            refused += 1
            for schema, document in documents_of(described, wire_dialect, rendered):
                for objection in objections(described, schema, document):
                    found.setdefault(objection, pair.id)
    assert refused >= 8
    assert found == {}


def objections(described: Described, schema: str, document: Json) -> Iterator[str]:
    """What the description does not allow of a document, less what is listed."""
    described.lacks(document)
    for objection in schema_faults(described.description, schema, document):
        if not any(words in objection for words in described.listed):
            yield f"{schema}: {objection}"


def answers(described: Described, only: str = "") -> Iterator[tuple[str, str, Json]]:
    """Every document of every answer, with its place and the schema that it should have."""
    scenarios = {one.name: one for one in suite_scenarios(load_suite())}
    for file in sorted((CASSETTES / described.adapter).rglob("*.yaml")):
        cassette = load(file)
        if only and cassette.scenario != only:
            continue
        wire_dialect = dialect(cassette.dialect)
        for number, rendered in enumerate(_asked_again(cassette, scenarios[cassette.scenario], wire_dialect)):
            for schema, document in documents_of(described, wire_dialect, rendered):
                yield f"{cassette.scenario} {number}", schema, document


def _asked_again(cassette: Cassette, scenario: Scenario, wire_dialect: Dialect) -> Iterator[Rendered]:
    """What the emulator answers today to the requests of a cassette, in their order."""
    run = new_run("1", wire_dialect, ScriptResponder(), any_key=True)
    for interaction in cassette.interactions:
        if interaction.extra or interaction.request.method == SOCKET_METHOD:
            continue
        if interaction.turn != run.turn_index:
            run.arm(interaction.turn, scenario.turns[interaction.turn], _declared(scenario, interaction.turn))
        address = urlsplit(interaction.request.uri)
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        request = interaction.request
        headers = {**request.headers, **KEYS}
        yield _answered(run, HttpRequest(request.method, address.path, query, headers, request.body))


def _declared(scenario: Scenario, index: int) -> tuple[ToolSchema, ...]:
    """The tools that are declared in a turn."""
    tools = scenario.tools
    for turn in scenario.turns[: index + 1]:
        tools = tools if turn.tools is None else turn.tools
    return tools


def _answered(run: ServerRun, request: HttpRequest) -> Rendered:
    exchange = Exchange(len(run.exchanges), request)
    run.exchanges.append(exchange)
    rendered = asyncio.run(answer_exchange(run, exchange)).rendered
    assert isinstance(rendered, Rendered)
    return rendered


def documents_of(described: Described, wire_dialect: Dialect, rendered: Rendered) -> Iterator[tuple[str, Json]]:
    """The JSON documents of an answer, each with the schema that it should have."""
    body = b"".join(event.data for event in rendered.events)
    if rendered.headers.get("content-type", "").startswith("text/plain"):
        return  # what stands in front of the service has no form of its own
    if not rendered.headers.get("content-type", "").startswith("text/event-stream"):
        document = json.loads(body)
        error = document.get("error") if described.error in ("ErrorPayload", "Error") else document
        yield (described.whole, document) if rendered.status < 400 else (described.error, error)
        return
    for event in wire_dialect.split_stream(rendered.headers, body):
        for line in event.data.splitlines():
            data = line.removeprefix(b"data:").strip()
            if line.startswith(b"data:") and data != b"[DONE]":
                document = json.loads(data)
                yield described.event(document), document


def _dialect_of(described: Described) -> Dialect:
    file = next((CASSETTES / described.adapter).rglob("*.yaml"))
    return dialect(load(file).dialect)
