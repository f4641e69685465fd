"""Recording: complete exchanges, scrubbed by allow-list, in an order of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turnproof.wire.cassettes.codec import encode

from .kit import HOST, bodies, conversation, pocket_request, record, recorder


def test_only_listed_headers_and_parameters_are_kept() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b'"hello"')
    [item] = recording.cassette().interactions
    assert item.request.headers == {"content-type": "application/json"}
    assert item.request.uri == f"{HOST}/v1/say?beta=true"
    assert item.response.headers == {"content-type": "application/json", "retry-after": "4"}
    assert b"1234567890" not in encode(recording.cassette())


LEFT_OUT = {
    "token endpoint": ({"path": "/oauth/token"}, "application/json", "POST /oauth/token: no operation of the dialect"),
    "page of a gateway": ({}, "text/html", "POST /v1/say: response body of type 'text/html'"),
}


@pytest.mark.parametrize(("request_", "kind", "reason"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_may_not_be_written_is_left_out_and_named(request_: dict[str, str], kind: str, reason: str) -> None:
    recording = recorder()
    record(recording, pocket_request("hi", **request_), b"access_token=very-secret", kind=kind)
    assert recording.cassette().interactions == ()
    assert recording.left_out == [reason]


def test_a_request_body_of_another_type_is_left_out_too() -> None:
    recording = recorder()
    request = pocket_request("hi")
    record(recording, replace(request, headers={"content-type": "multipart/form-data; boundary=x"}), b"{}")
    assert recording.left_out == ["POST /v1/say: request body of type 'multipart/form-data'"]


def test_a_retry_that_succeeds_replaces_the_failure_before_it() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b'"busy"', status=529)
    record(recording, pocket_request("hi"), b'"hello"')
    assert bodies(recording.cassette().interactions) == [b'"hello"']


def test_a_failure_never_replaces_an_answer() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b'"hello"')
    record(recording, pocket_request("hi"), b'"busy"', status=529)
    assert bodies(recording.cassette().interactions) == [b'"hello"']


def test_what_a_model_says_in_other_words_when_it_is_asked_again_is_kept_behind_the_first_answer() -> None:
    recording = recorder(recorded="live")
    record(recording, pocket_request("hi"), b'"cut by a fault, then asked again"')
    record(recording, pocket_request("hi"), b'"hello"')
    assert bodies(recording.cassette().interactions) == [b'"cut by a fault, then asked again"', b'"hello"']


def test_the_same_words_again_are_kept_once() -> None:
    recording = recorder(recorded="live")
    record(recording, pocket_request("hi"), b'"hello"')
    record(recording, pocket_request("hi"), b'"hello"')
    assert bodies(recording.cassette().interactions) == [b'"hello"']


def test_both_modes_of_a_scenario_share_one_cassette() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b'"batch"')
    record(recording, pocket_request("hi", stream=True), b"stream", kind="text/event-stream")
    first, second = recording.cassette().interactions
    assert first.digest == second.digest
    assert (first.stream, second.stream) == (True, False)


def test_the_same_request_at_two_places_is_recorded_twice() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b"1", at=(0, 0))
    record(recording, pocket_request("hi"), b"2", at=(2, 0))
    assert [item.place for item in recording.cassette().interactions] == [(0, 0), (2, 0)]


def test_order_of_arrival_does_not_show_in_the_file() -> None:
    forwards, backwards = recorder(), recorder()
    for recording, numbers in ((forwards, range(5)), (backwards, reversed(range(5)))):
        for number in numbers:
            record(recording, pocket_request(str(number)), b"%d" % number, at=(0, number))
        record(recording, pocket_request("0", path="/v1/count"), b"9", at=(0, 0), extra=True)
    assert encode(forwards.cassette()) == encode(backwards.cassette())
    assert bodies(forwards.cassette().interactions) == [b"0", b"9", b"1", b"2", b"3", b"4"]


def test_a_claim_from_a_recording_is_no_larger_than_the_recording() -> None:
    assert conversation(0).provenance == "recorded from emulated"
    assert recorder(recorded="live").cassette().provenance == "recorded from live, 2026-11-21"
