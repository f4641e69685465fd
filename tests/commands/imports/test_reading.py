"""Files of recorded traffic are read in the forms in which tools write them; what is wrong is said with its spot."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from turnproof.commands.imports.exchanges import RecordedExchange, TracedCall, Unreadable
from turnproof.commands.imports.read import read_traffic
from turnproof.errors import UsageError

from .kit import CONVERSATION, cassette, har, written

SPAN: dict[str, Any] = {
    "startTimeUnixNano": "1793612400000000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.request.model", "value": {"stringValue": "gpt-4.1"}},
        {"key": "server.address", "value": {"stringValue": "api.openai.com"}},
        {"key": "server.port", "value": {"intValue": "443"}},
        {
            "key": "gen_ai.system_instructions",
            "value": {"stringValue": '[{"type": "text", "content": "You keep a log."}]'},
        },
        {
            "key": "gen_ai.input.messages",
            "value": {"stringValue": '[{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}]'},
        },
        {
            "key": "gen_ai.output.messages",
            "value": {
                "stringValue": '[{"role": "assistant", "parts": [{"type": "text", "content": "Hi."}], '
                '"finish_reason": "stop"}]'
            },
        },
    ],
}


def trace(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def bodies(path: Path) -> list[tuple[str, int, bytes, bytes]]:
    found = [one for one in read_traffic(path) if isinstance(one, RecordedExchange)]
    return [(one.url, one.status, one.request_body, one.response_body) for one in found]


EXPECTED = [(one.url, one.status, one.request_body, one.response_body) for one in CONVERSATION]


def test_a_har_file_is_read_with_its_day(tmp_path: Path) -> None:
    path = written(tmp_path, "traffic.har", har(CONVERSATION))

    assert bodies(path) == EXPECTED
    assert [one.day for one in read_traffic(path) if isinstance(one, RecordedExchange)] == ["2026-11-02"] * 3


def test_a_body_that_a_har_file_has_in_base64_is_unpacked(tmp_path: Path) -> None:
    data = har(CONVERSATION[:1])
    content = data["log"]["entries"][0]["response"]["content"]
    content |= {"text": b64encode(content["text"].encode()).decode(), "encoding": "base64"}

    assert bodies(written(tmp_path, "traffic.har", data)) == EXPECTED[:1]


@pytest.mark.parametrize("dump", [json.dumps, yaml.safe_dump], ids=["json", "yaml"])
def test_a_cassette_is_read_as_json_and_as_yaml(dump: Any, tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    path.write_text(dump(cassette(CONVERSATION)))

    assert bodies(path) == EXPECTED


def test_a_compressed_body_of_a_cassette_is_unpacked(tmp_path: Path) -> None:
    data = cassette(CONVERSATION[:1])
    response = data["interactions"][0]["response"]
    response["headers"]["Content-Encoding"] = ["gzip"]
    response["body"] = {"string": gzip.compress(response["body"]["string"].encode())}
    path = tmp_path / "cassette.yaml"
    path.write_text(yaml.safe_dump(data))

    assert bodies(path) == EXPECTED[:1]
    assert "content-encoding" not in read_traffic(path)[0].response_headers  # type: ignore[union-attr]


def test_a_body_that_the_recorder_unpacked_is_taken_as_it_is(tmp_path: Path) -> None:
    data = cassette(CONVERSATION[:1])
    data["interactions"][0]["response"]["headers"]["Content-Encoding"] = ["gzip"]

    assert bodies(written(tmp_path, "cassette.yaml", data)) == EXPECTED[:1]


def test_a_parsed_body_is_written_again(tmp_path: Path) -> None:
    data = cassette(CONVERSATION[:1])
    request = data["interactions"][0]["request"]
    request["parsed_body"] = json.loads(request.pop("body"))
    [read] = read_traffic(written(tmp_path, "cassette.yaml", data))

    assert isinstance(read, RecordedExchange)
    assert json.loads(read.request_body) == json.loads(CONVERSATION[0].request_body)


def test_the_calls_of_a_trace_are_read_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    later = {**SPAN, "startTimeUnixNano": "1793612500000000000"}
    other = {"attributes": [{"key": "http.request.method", "value": {"stringValue": "GET"}}]}
    found = read_traffic(written(tmp_path, "trace.json", trace(later, other, SPAN)))

    assert [one.system for one in found if isinstance(one, TracedCall)] == ["You keep a log."] * 2
    assert [one.answer.text for one in found if isinstance(one, TracedCall) and one.answer is not None] == ["Hi."] * 2


def test_a_trace_may_have_a_document_a_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(f"{json.dumps(trace(SPAN))}\n{json.dumps(trace(SPAN))}\n")

    assert len(read_traffic(path)) == 2


BAD: list[tuple[str, Any, str]] = [
    ("nothing that we know", {"a": 1}, "is no cassette ('interactions'), HAR file"),
    ("no address", {"interactions": [{"request": {"method": "GET"}, "response": {"status": 200}}]}, "has no 'uri'"),
    ("no method", {"interactions": [{"request": {}, "response": {"status": 200}}]}, "$.interactions[0].request"),
    (
        "no status",
        {"log": {"entries": [{"request": {"method": "GET", "url": "u"}, "response": {}}]}},
        "`status` - at `$.log.entries[0]",
    ),
    ("entries are no list", {"log": {"entries": 3}}, "Expected `array`, got `int` - at `$.log.entries`"),
]


@pytest.mark.parametrize(("data", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_is_wrong_with_a_file_is_said_with_its_place(data: Any, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, "traffic.json", data)

    with pytest.raises(UsageError) as failure:
        read_traffic(path)
    assert str(path) in str(failure.value)
    assert words in str(failure.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.har: cannot be read: No such file"):
        read_traffic(tmp_path / "gone.har")


def test_a_file_that_is_neither_json_nor_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "traffic.har"
    path.write_bytes(b"{a: [1, \x00")

    with pytest.raises(UsageError, match="is neither JSON nor YAML"):
        read_traffic(path)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ('[{"role": "bot", "parts": []}]', "$[0].role is 'bot'; known: assistant"),
        ('[{"role": "user", "parts": [{"type": "te', "cannot be read, the exporter may have cut it"),
    ],
)
def test_a_call_whose_messages_cannot_be_read_does_not_hide_the_others(
    messages: str, reason: str, tmp_path: Path
) -> None:
    attributes = [one for one in SPAN["attributes"] if one["key"] != "gen_ai.input.messages"]
    broken = {**SPAN, "attributes": [*attributes, {"key": "gen_ai.input.messages", "value": {"stringValue": messages}}]}
    first, second = read_traffic(written(tmp_path, "trace.json", trace(broken, SPAN)))

    assert isinstance(first, Unreadable)
    assert "spans[0] attribute gen_ai.input.messages" in first.reason
    assert reason in first.reason
    assert isinstance(second, TracedCall)
