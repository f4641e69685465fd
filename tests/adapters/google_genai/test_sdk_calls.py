"""What the SDK's own call is given for a request, and what becomes of the stream that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from google.genai import types

from turnproof_adapters.google_genai import splice
from turnproof_adapters.google_genai.models import target
from turnproof_adapters.google_genai.sdk_calls import Plain, Spliced, open_stream
from turnproof_adapters.google_genai.splice import STUB

from .kit import MODEL

TO = target(MODEL)
PIECES = [types.GenerateContentResponse(response_id=word) for word in "abc"]


class Models:
    """Keeps what it is called with, and what the client would put in its place."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, Any], bytes | None]] = []
        self.response = unread()
        self.trouble: Exception | None = None

    def generate_content(self, **arguments: Any) -> types.GenerateContentResponse:
        self._send(arguments)
        return PIECES[0]

    def generate_content_stream(self, **arguments: Any) -> Iterator[types.GenerateContentResponse]:
        self._send(arguments)
        yield from PIECES

    def _send(self, arguments: dict[str, Any]) -> None:
        carried = splice._carried.get()
        self.calls.append((arguments, carried.body if carried is not None else None))
        if carried is not None:
            carried.deliver(self.response)
        if self.trouble is not None:
            raise self.trouble


def unread() -> httpx2.Response:
    return httpx2.Response(200, content=iter([b'{"responseId": "a"}']), request=httpx2.Request("POST", "http://here"))


def client_of(models: Models) -> Any:
    return SimpleNamespace(models=models)


def ids(request: Plain | Spliced, streamed: bool) -> str:
    chunks = request.stream().events if streamed else [request.read_batch()]
    return "".join(str(chunk.answer) for chunk in chunks)


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_beside_a_body_the_sdk_is_given_a_stub_and_nothing_else(streamed: bool) -> None:
    models = Models()
    request = Spliced(client_of(models), MODEL, TO, b"{}")
    assert ids(request, streamed) == "a"
    ((arguments, body),) = models.calls
    assert body == b"{}"
    assert arguments == {"model": MODEL, "contents": STUB}


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_without_a_body_the_sdk_is_given_all_of_it_and_reads_the_answer_itself(streamed: bool) -> None:
    models = Models()
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    request = Plain(client_of(models), MODEL, TO, contents, {"generationConfig": {"maxOutputTokens": 9}})
    assert ids(request, streamed) == ("abc" if streamed else "a")
    ((arguments, body),) = models.calls
    assert body is None
    assert (arguments["model"], arguments["contents"]) == (
        MODEL,
        [types.Content(role="user", parts=[types.Part(text="hi")])],
    )
    assert arguments["config"].max_output_tokens == 9
    assert arguments["config"].automatic_function_calling.disable
    assert arguments["config"].automatic_continuation is False


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_call_that_the_sdk_refuses_is_hung_up(streamed: bool) -> None:
    models = Models()
    models.trouble = ValueError("no JSON")
    request = Spliced(client_of(models), MODEL, TO, b"{}")
    with pytest.raises(ValueError, match="no JSON"):
        ids(request, streamed)
    assert models.response.is_closed


def test_a_kept_stream_is_open_when_it_is_handed_on_and_hangs_up_when_it_is_closed() -> None:
    models = Models()
    source = Spliced(client_of(models), MODEL, TO, b"{}").stream()
    assert not models.response.is_closed
    source.close()
    assert models.response.is_closed


def test_a_stream_of_the_sdks_is_open_when_it_is_handed_on_and_hangs_up_when_it_is_closed() -> None:
    models = Models()
    source = open_stream(models.generate_content_stream)
    assert models.calls == [({}, None)]
    assert not models.response.is_closed
    source.close()
    assert models.response.is_closed
    assert list(source.events) == PIECES


def test_a_stream_without_a_piece_has_no_events() -> None:
    assert list(open_stream(lambda: iter(())).events) == []


def test_a_stream_whose_first_piece_cannot_be_read_is_hung_up() -> None:
    models = Models()
    models.trouble = ValueError("no JSON")
    with pytest.raises(ValueError, match="no JSON"):
        open_stream(models.generate_content_stream)
    assert models.response.is_closed
