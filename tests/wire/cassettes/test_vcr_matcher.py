"""The matcher and loader that vcrpy users register, inside a real VCR instance that never reaches a network."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
import vcr as vcrpy  # type: ignore[import-untyped]
from vcr.errors import CannotOverwriteExistingCassetteException  # type: ignore[import-untyped]
from vcr.request import Request  # type: ignore[import-untyped]
from vcr.serializers import yamlserializer  # type: ignore[import-untyped]

from turnproof.wire.cassettes import save
from turnproof.wire.cassettes.vcr import MATCH_ON, NAME, Matcher, Serializer, matcher, register

from .kit import HOST, conversation, counting, pocket, pocket_request, record, recorder


def vcr_with(ours: Matcher) -> Any:
    """What `register` does, for a dialect that is in no registry."""
    vcr = vcrpy.VCR(record_mode="none", match_on=MATCH_ON)
    vcr.register_matcher(NAME, ours)
    vcr.register_serializer("yaml", Serializer())
    return vcr


def pocket_matcher() -> Matcher:
    return Matcher({"api.pocket.example": [pocket()]})


def send_request(text: str, **more: Any) -> bytes:
    """Send a request as an SDK does, and read the answer."""
    body = json.loads(pocket_request(text).body) | more
    return httpx2.post(f"{HOST}/v1/say", json=body, headers={"authorization": "Bearer other"}).content


def request(body: Any, uri: str = f"{HOST}/v1/say") -> Request:
    return Request("POST", uri, body, {"content-type": "application/json"})


def test_requests_find_their_answers_in_any_order_and_with_other_settings(tmp_path: Path) -> None:
    save(conversation(5), tmp_path / "c.yaml")
    with vcr_with(pocket_matcher()).use_cassette(str(tmp_path / "c.yaml")) as cassette:
        assert send_request("000003", max_tokens=9) == b'"000003"'
        assert send_request("000000") == b'"000000"'
    assert cassette.play_count == 2


def test_a_changed_request_is_refused_and_shown_with_both_sides(tmp_path: Path) -> None:
    save(conversation(1), tmp_path / "c.yaml")
    with (
        vcr_with(pocket_matcher()).use_cassette(str(tmp_path / "c.yaml")),
        pytest.raises(CannotOverwriteExistingCassetteException) as failure,
    ):
        send_request("changed")
    assert r"differs at $.messages[0]: recorded '000000', sent 'changed'" in str(failure.value)


def test_a_stream_is_no_match_for_one_piece() -> None:
    stream, batch = (request(pocket_request("hi", **more).body) for more in ({"stream": True}, {}))
    with pytest.raises(AssertionError, match=r"differs at \$\.stream: recorded True, sent False"):
        pocket_matcher()(batch, stream)


def test_each_request_is_read_once_however_many_it_is_compared_with(tmp_path: Path) -> None:
    save(conversation(40), tmp_path / "c.yaml")
    counted, dialect = counting()
    with vcr_with(Matcher({"api.pocket.example": [dialect]})).use_cassette(str(tmp_path / "c.yaml")):
        for number in reversed(range(40)):
            send_request(f"{number:06d}")
    # 40 recorded and 40 sent, and 3 of the recorded once more for their differences; the 20 spare are for requests
    # read again because a recorded one was read in between, which only happens while the cassette is new.
    assert counted.parsed <= 103


def test_differences_are_worked_out_for_as_many_as_vcrpy_shows() -> None:
    ours, sent = pocket_matcher(), request(pocket_request("hi").body)
    recorded = [request(pocket_request(str(number)).body) for number in range(5)]

    def compare(other: Request) -> str:
        try:
            return str(ours(sent, other))
        except AssertionError as error:
            return str(error)

    shown = [f"differs at $.messages[0]: recorded '{number}', sent 'hi'" for number in range(3)]
    assert [compare(other) for other in recorded] == [*shown, "False", "False"]
    assert [compare(other) for other in recorded] == [*shown, "False", "False"], "vcrpy asks again to report"


def test_a_request_to_another_address_needs_no_explanation() -> None:
    assert pocket_matcher()(request(b"{}"), request(b"{}", f"{HOST}/v1/count")) is False


KINDS = {
    "bytes": lambda body: body,
    "text": lambda body: body.decode(),
    "file": io.BytesIO,
    "iterator": lambda body: iter([body[:5], body[5:]]),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_bodies_match_in_whatever_form_vcrpy_holds_them(kind: Any) -> None:
    body = pocket_request("hi").body
    assert pocket_matcher()(request(kind(body)), request(body))
    with pytest.raises(AssertionError):
        pocket_matcher()(request(kind(pocket_request("ho").body)), request(body))


def test_a_request_without_a_body_matches_its_like() -> None:
    assert pocket_matcher()(request(None, f"{HOST}/v1/models"), request(b"", f"{HOST}/v1/models"))


def test_requests_to_other_hosts_are_compared_byte_by_byte() -> None:
    elsewhere = "https://example.com/"
    assert pocket_matcher()(request(b"\xff", elsewhere), request(b"\xff", elsewhere))
    with pytest.raises(AssertionError, match=r"differs at \$\.body: recorded '{ }', sent '{}'"):
        pocket_matcher()(request(b"{}", elsewhere), request(b"{ }", elsewhere))
    with pytest.raises(AssertionError, match=r"differs at \$\.uri"):
        pocket_matcher()(request(b"{}", elsewhere), request(b"{}", elsewhere + "?q=1"))


def test_the_matcher_alone_serves_whoever_registers_it_by_hand() -> None:
    base = {"model": "claude-sonnet-4-5", "max_tokens": 1}
    body, other = (json.dumps(base | {"messages": [{"role": "user", "content": text}]}) for text in "ab")
    address = "https://api.anthropic.com/v1/messages"
    assert matcher(request(body, address), request(body.replace(": 1", ": 2"), address))
    with pytest.raises(AssertionError, match="recorded 'b', sent 'a'"):
        matcher(request(body, address), request(other, address))


@pytest.mark.parametrize(
    ("path", "fields"),
    [("chat/completions", {"messages": [{"role": "user", "content": "hi"}]}), ("responses", {"input": "hi"})],
)
def test_a_host_that_serves_two_apis_is_matched_by_whichever_reads_the_request(path: str, fields: Any) -> None:
    bodies = [json.dumps({"model": "gpt-4o", "temperature": heat, **fields}) for heat in (0.1, 0.9)]
    cold, hot = (request(body, f"https://api.openai.com/v1/{path}") for body in bodies)
    assert matcher(cold, hot)


def test_registering_makes_the_matcher_the_default() -> None:
    vcr = vcrpy.VCR()
    register(vcr)
    assert vcr.match_on == MATCH_ON
    assert isinstance(vcr.matchers[NAME], Matcher)


def test_our_loader_gives_what_vcrpys_own_gives_less_our_metadata(tmp_path: Path) -> None:
    recording = recorder()
    record(recording, pocket_request("grüß dich \U0001f600 \u2028"), b"\xff\x00", kind="text/plain")
    save(recording.cassette(), tmp_path / "c.yaml")
    text = (tmp_path / "c.yaml").read_text("utf-8")
    slow = yamlserializer.deserialize(text)
    assert slow["metadata"].pop("turnproof")["adapter"] == "pocket"
    assert Serializer().deserialize(text) == slow


def test_other_cassettes_are_read_and_written_as_vcrpy_does() -> None:
    data = {"version": 1, "interactions": [], "metadata": {"seed": 1}}
    text = Serializer().serialize(data)
    assert text == yamlserializer.serialize(data)
    assert Serializer().deserialize(text) == data
