"""Answers in pieces: the same result as in one, told as it arrives; and streams that do not come to their end."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from turnproof.errors import ContentFilterError, OverloadedError, ProviderError, TransportError
from turnproof.messages import Message, ProviderResponse, Text, Thought

from ..callback_recorder import CallbackRecorder
from ..contract.adapter_kit import OpenedPath, Path, outcome
from ..scripted_server import scripted
from .kit import (
    CLAUDE,
    GEMINI,
    KIT,
    PATHS,
    SIGNATURE,
    URL,
    Capture,
    answer,
    asking,
    call,
    envelope,
    event,
    issued,
    stream,
    text,
    thought,
)

HI = [Message.user("hi")]


def streamed(
    events: list[bytes], recorder: CallbackRecorder | None = None, path: Path = "stateless", model: str = GEMINI
) -> ProviderResponse:
    opened = OpenedPath(KIT, path, URL, model=model, transport=Capture(events=events).transport)
    return opened.stream(recorder)


PARTS = {
    GEMINI: [
        thought("h"),
        thought("m"),
        text("Gate "),
        text("9 ", SIGNATURE),
        call("f", {"x": 1}, "a1", "AAAA"),
        call("g", {}),
        text("", "BBBB"),
    ],
    CLAUDE: [
        thought("h"),
        thought("m"),
        thought("", SIGNATURE),
        text("Gate "),
        text("9 "),
        call("f", {"x": 1}, "toolu_vrtx_01A"),
    ],
}


@PATHS
@pytest.mark.parametrize("model", PARTS)
def test_a_stream_gives_what_the_batch_answer_of_the_same_parts_gives(path: Path, model: str) -> None:
    recorder, parts = CallbackRecorder(), PARTS[model]
    response = streamed(stream(*parts), recorder, path, model)
    whole = asking(path, model=model, transport=Capture(envelope(*parts)).transport)()
    assert outcome(response) == outcome(whole)
    assert recorder.text == response.text == "Gate 9 "
    assert "".join(piece for kind, piece in recorder.events if kind == "thinking") == "hm"
    assert recorder.calls == list(response.calls)
    assert recorder.usage[-1] == response.usage


@PATHS
@pytest.mark.parametrize("model", PARTS)
def test_a_stream_cut_behind_any_event_shows_what_stands_alone_of_it(path: Path, model: str) -> None:
    events = stream(*PARTS[model])
    for length in range(len(events)):
        recorder = CallbackRecorder()
        with pytest.raises(TransportError, match="end marker") as failure:
            streamed(events[:length], recorder, path, model)
        assert failure.value.retryable
        assert "".join(part.text for part in failure.value.partial if isinstance(part, Text)) == recorder.text
        assert all(isinstance(part, Text | Thought) for part in failure.value.partial)


@PATHS
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
@pytest.mark.parametrize("wrapped", [True, False], ids=["envelope", "bare"])
def test_lines_end_as_they_like_with_and_without_an_envelope(path: Path, end: str, wrapped: bool) -> None:
    make = envelope if wrapped else answer
    events = [event(make(text("so "), finish=None), end), event(make(text("far")), end)]
    assert streamed(events, path=path).text == "so far"


def test_the_last_figures_count_and_none_that_a_callback_heard_falls() -> None:
    recorder = CallbackRecorder()
    response = streamed(
        [
            event(envelope(text("a"), finish=None, usage={"promptTokenCount": 169, "candidatesTokenCount": 12})),
            event(envelope(text("b"), usage={"promptTokenCount": 79, "candidatesTokenCount": 4})),
        ],
        recorder,
    )
    assert (response.usage.prompt_tokens, response.usage.output_tokens) == (79, 4)
    assert [each.prompt_tokens for each in recorder.usage] == [169, 169]


def test_claudes_thought_is_signed_by_the_piece_behind_it() -> None:
    response = streamed(stream(thought("Check "), thought("it."), thought("", SIGNATURE), text("Shut.")), model=CLAUDE)
    assert response.parts == (Thought("Check it.", provider_data=issued(CLAUDE)), Text("Shut."))


@PATHS
def test_an_error_in_the_midst_of_a_stream_is_typed_and_shows_what_had_come(path: Path) -> None:
    broken = {"error": {"code": 503, "message": "gone", "status": "UNAVAILABLE"}}
    with pytest.raises(OverloadedError) as failure:
        streamed([event(envelope(text("so far"), finish=None)), event(broken)], path=path)
    assert (failure.value.status, failure.value.kind, failure.value.message) == (503, "UNAVAILABLE", "gone")
    assert failure.value.partial == (Text("so far"),)


@PATHS
def test_an_event_that_is_no_answer_is_none(path: Path) -> None:
    for bad in (b"data: {\n\n", b"data: 7\n\n", b'data: {"response": 7}\n\n'):
        with pytest.raises(TransportError, match="what is no answer") as failure:
            streamed([event(envelope(text("so far"), finish=None)), bad], path=path)
        assert failure.value.status == 200
        assert failure.value.partial == (Text("so far"),)


@PATHS
def test_a_blocked_prompt_is_told_in_a_stream_too(path: Path) -> None:
    with pytest.raises(ContentFilterError) as failure:
        streamed([event({"response": {"promptFeedback": {"blockReason": "SAFETY"}}})], path=path)
    assert failure.value.kind == "SAFETY"


# -- what calls itself a stream and is none


ERROR = {"error": {"code": 503, "message": "gone", "status": "UNAVAILABLE"}}


@PATHS
@pytest.mark.parametrize("body", [ERROR, [ERROR]], ids=["object", "list"])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_an_error_document_in_place_of_a_stream_is_typed(path: Path, kind: str, body: Any, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(json=body, headers={"content-type": kind})
    with pytest.raises(OverloadedError) as failure:
        asking(path, streamed=True)()
    assert (failure.value.status, failure.value.message) == (503, "gone")


@PATHS
def test_an_answer_that_comes_as_one_document_or_as_a_list_of_pieces_is_read_too(path: Path, httpx2_mock: Any) -> None:
    pieces = [envelope(text("so "), finish=None), envelope(text("far"))]
    for body, expected in ((pieces[1], "far"), (pieces, "so far")):
        httpx2_mock.route().respond(content=b"\r\n " + json.dumps(body, indent=1).encode())
        assert asking(path, streamed=True)().text == expected


@PATHS
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!doctype html><h1>Sign in</h1>", "a page where a stream belongs"),
        (b"{", "what is no answer"),
        (b"[{}", "no complete answer"),
        (b"", "end marker"),
        (b"\r\n\r\n", "end marker"),
        (b"hello", "end marker"),
        (b": ping\n\n", "end marker"),
    ],
)
def test_what_is_no_stream_is_a_transport_error(path: Path, body: bytes, words: str, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(content=body, headers={"content-type": "text/event-stream"})
    with pytest.raises(TransportError, match=words) as failure:
        asking(path, streamed=True)()
    assert failure.value.retryable


@PATHS
@pytest.mark.parametrize("streams", [False, True], ids=["batch", "stream"])
def test_a_truncated_gzip_is_no_complete_answer(path: Path, streams: bool) -> None:
    data = b"".join(stream(text("hi"))) if streams else json.dumps(envelope(text("hi"))).encode()
    packed = gzip.compress(data)[:-12]
    with scripted(lambda exchange: exchange.answer(packed, 200, **{"content-encoding": "gzip"})) as server:
        with pytest.raises(ProviderError) as failure:
            asking(path, server.url, streamed=streams)()
        assert type(failure.value) is TransportError
