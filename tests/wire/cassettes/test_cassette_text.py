"""The text of a cassette: one form that vcrpy, any YAML reader and we ourselves read alike."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from vcr.persisters.filesystem import FilesystemPersister  # type: ignore[import-untyped]
from vcr.serializers import yamlserializer  # type: ignore[import-untyped]

from turnproof.errors import CassetteError
from turnproof.wire.cassettes import FORMAT, Cassette, Interaction, RecordedRequest, RecordedResponse, load, save
from turnproof.wire.cassettes.codec import decode, encode
from turnproof.wire.cassettes.model import offsets_of

from .kit import HOST, conversation, pocket_request, record, recorder

FILE = {"file": "x.yaml", "remedy": "turnproof record pocket --only x"}


def one(request: bytes, response: bytes, offsets: tuple[int, ...] = ()) -> Cassette:
    interaction = Interaction(
        RecordedRequest("POST", f"{HOST}/v1/say", {"content-type": "application/json"}, request),
        RecordedResponse(529, {"retry-after": "4"}, response),
        turn=2,
        round=1,
        digest="00" * 16,
        offsets=offsets,
        stream=True,
        extra=True,
    )
    return Cassette("pocket", "x", "pocket", "pocket-1", "live", "2026-11-21", (interaction,))


@given(st.text(), st.text() | st.binary())
def test_any_body_survives_our_own_reader(request: str, response: str | bytes) -> None:
    data = response if isinstance(response, bytes) else response.encode()
    cassette = one(request.encode(), data)
    assert decode(encode(cassette), **FILE) == cassette


@given(st.text(), st.text() | st.binary())
@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader], ids=["libyaml", "pure-python"])
def test_any_body_survives_a_yaml_reader(loader: type, request: str, response: str | bytes) -> None:
    data = response if isinstance(response, bytes) else response.encode()
    read = yaml.load(encode(one(request.encode(), data)).decode(), Loader=loader)
    [entry] = read["interactions"]
    sent, came = entry["request"]["body"], entry["response"]["body"]["string"]
    assert (sent if isinstance(sent, bytes) else sent.encode()) == request.encode()
    assert (came if isinstance(came, bytes) else came.encode()) == data


@pytest.mark.parametrize(
    "character", ["\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\uffff", "\U0001f600", "\0", "\t"]
)
def test_characters_that_yaml_treats_specially_come_back_unchanged(character: str) -> None:
    body = f"a {character} b{character}".encode()
    text = encode(one(body, body)).decode()
    assert yaml.load(text, Loader=yaml.CSafeLoader)["interactions"][0]["response"]["body"]["string"].encode() == body
    assert decode(text.encode(), **FILE).interactions[0].request.body == body


def test_vcrpy_reads_a_cassette_as_it_is(tmp_path: Path) -> None:
    recording = recorder()
    record(recording, pocket_request("hello"), b'{"text": "', "grüß dich".encode(), b'"}')
    record(recording, pocket_request("again"), b"\xff\xfe", at=(1, 0), kind="text/plain", status=500)
    save(recording.cassette(), tmp_path / "small-talk.yaml")

    requests, responses, metadata = FilesystemPersister.load_cassette(tmp_path / "small-talk.yaml", yamlserializer)

    assert [request.uri for request in requests] == [f"{HOST}/v1/say?beta=true"] * 2
    assert json.loads(requests[0].body)["messages"] == ["hello"]
    assert requests[0].headers["Content-Type"] == "application/json"
    assert responses[0]["status"] == {"code": 200, "message": "OK"}
    assert responses[0]["headers"] == {"content-type": ["application/json"], "retry-after": ["4"]}
    assert [response["body"]["string"] for response in responses] == ['{"text": "grüß dich"}'.encode(), b"\xff\xfe"]
    assert metadata["turnproof"]["format"] == FORMAT


def test_a_text_cassette_is_plain_json_with_one_interaction_a_line() -> None:
    text = encode(conversation(3)).decode()
    data = json.loads(text)
    lines = text.splitlines()
    assert list(data) == ["version", "metadata", "interactions"]
    assert len(lines) == 2 + 3 + 1 + 3
    assert [json.loads(line.rstrip(",]}") + "}}}")["request"]["method"] for line in lines[-3:]] == ["POST"] * 3


def test_provenance_and_cuts_stand_in_the_metadata_alone() -> None:
    recording = recorder(recorded="live")
    record(
        recording,
        pocket_request("hi", stream=True),
        b"one\n",
        b"two\n",
        b"three\n",
        at=(4, 2),
        kind="text/event-stream",
    )
    data = json.loads(encode(recording.cassette()))
    metadata = data["metadata"]["turnproof"]
    [exchange] = metadata.pop("exchanges")
    assert metadata == {
        "format": 1,
        "recorded": "live",
        "date": "2026-11-21",
        "dialect": "pocket",
        "model": "pocket-1",
        "scenario": "small-talk",
        "adapter": "pocket",
    }
    digest = exchange.pop("digest")
    assert len(bytes.fromhex(digest)) == 16
    assert exchange == {"turn": 4, "round": 2, "offsets": [4, 8], "extra": False, "stream": True}
    assert set(data["interactions"][0]["request"]) == {"method", "uri", "headers", "body"}


def test_the_same_exchanges_give_the_same_bytes() -> None:
    assert encode(conversation(5)) == encode(conversation(5))


@given(st.lists(st.binary(max_size=5)))
def test_chunks_come_back_as_they_were_cut(chunks: list[bytes]) -> None:
    cassette = one(b"{}", b"".join(chunks), offsets_of(chunks))
    [read] = decode(encode(cassette), **FILE).interactions
    assert [chunk for chunk in read.chunks if chunk] == [chunk for chunk in chunks if chunk]
    assert b"".join(read.chunks) == b"".join(chunks)


def good() -> dict[str, object]:
    data: dict[str, object] = json.loads(encode(conversation(3)))
    return data


def _change(path: str, value: object) -> bytes:
    data: object = good()
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    spot = data
    for step in way:
        spot = spot[step]  # type: ignore[index]
    spot[last] = value  # type: ignore[index]
    return msgspec.json.encode(data)


TWO_EXCHANGES = json.loads(encode(conversation(2)))["metadata"]["turnproof"]["exchanges"]

DAMAGE = {
    "empty file": (b"", "line 1: the cassette is damaged: not the JSON of a cassette"),
    "cut in the middle": (encode(conversation(3))[:-100], "line 9: the cassette is damaged: not the JSON"),
    "not json": (encode(conversation(3)).replace(b'"method":', b'"method" ', 1), "line 7: the cassette is damaged"),
    "a list": (b"[]", "$: the cassette is damaged: Expected `object`, got `array`"),
    "plain vcr cassette": (b'{"version":1,"interactions":[]}', "required field `metadata`"),
    "other vcr version": (_change("version", 2), "$.version: the cassette is damaged: VCR version 2"),
    "no such format": (_change("metadata/turnproof/format", 0), "$.metadata.turnproof.format"),
    "unknown key of ours": (_change("metadata/turnproof/surprise", 1), "unknown field `surprise`"),
    "unknown request key": (_change("interactions/1/request/surprise", 1), "$.interactions[1].request"),
    "body of a wrong type": (_change("interactions/2/response/body", "x"), "$.interactions[2].response.body"),
    "exchanges too few": (_change("metadata/turnproof/exchanges", TWO_EXCHANGES), "2 exchanges for 3 interactions"),
    "cut outside of the body": (
        _change("metadata/turnproof/exchanges/1/offsets", [3, 99]),
        "$.metadata.turnproof.exchanges[1].offsets: the cassette is damaged: the cuts must ascend within",
    ),
    "cuts out of order": (_change("metadata/turnproof/exchanges/0/offsets", [4, 2]), "exchanges[0].offsets"),
    "broken base64": (
        encode(one(b"{}", b"\xff\xff")).replace(b'!!binary "', b'!!binary "?'),
        "$.interactions[0].response.body.string: the cassette is damaged: not base64",
    ),
}


@pytest.mark.parametrize(("data", "words"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_cassette_is_refused_with_file_place_and_remedy(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "pocket" / "small-talk.yaml"
    file.parent.mkdir()
    file.write_bytes(data)
    with pytest.raises(CassetteError) as failure:
        load(file)
    message = str(failure.value)
    assert message.startswith(f"{file}: ")
    assert words in message
    assert message.endswith("Record it again: turnproof record pocket --only small-talk")


@pytest.mark.parametrize("also", ["", "more"], ids=["same shape", "other shape"])
def test_a_newer_format_is_named_as_such_whatever_else_it_holds(tmp_path: Path, also: str) -> None:
    data = good()
    data["metadata"]["turnproof"]["format"] = 7  # type: ignore[index]
    if also:
        data["metadata"]["turnproof"] = {"format": 7, also: []}  # type: ignore[index]
    file = tmp_path / "new.yaml"
    file.write_bytes(msgspec.json.encode(data))
    with pytest.raises(CassetteError, match=r"newer turnproof \(format 7, this one reads up to 1\)\. Upgrade"):
        load(file)
